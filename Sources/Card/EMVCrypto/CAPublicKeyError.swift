// SPDX-License-Identifier: Apache-2.0
/// Why a CA public key, or a set of them, is refused.
public enum CAPublicKeyError: Error, Equatable, Sendable {
    case notHexadecimal
    /// Not five bytes.
    case badRID
    /// Not one byte.
    case badIndex
    /// Even (no RSA key), shorter than 64 or longer than 256 bytes.
    case badModulus
    /// Not 64 bytes of a point on P-256.
    case badPoint
    /// Below 2, or beyond 32 bits.
    case badExponent
    /// No calendar date of the form YYYYMMDD.
    case badExpiry
    /// The SHA-1 over the fields is another one: a typing mistake in one of them.
    case wrongChecksum
    /// A test key offered for live use, or the reverse.
    case wrongEnvironment
    /// Two keys with the same RID, index and length.
    case duplicate(index: UInt8)
}

extension CAPublicKeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notHexadecimal: "a field of the CA key is not hexadecimal"
        case .badRID: "the CA key's RID does not have five bytes"
        case .badIndex: "the CA key's index is not one byte"
        case .badModulus: "the CA key's modulus is not an RSA modulus of 512 to 2048 bits"
        case .badPoint: "the CA key is not a point on P-256"
        case .badExponent: "the CA key's exponent is not between 2 and 4294967295"
        case .badExpiry: "the CA key's expiry is not a date"
        case .wrongChecksum: "the CA key's checksum does not match its fields"
        case .wrongEnvironment: "test and live CA keys in one set"
        case .duplicate(let index): "two CA keys with index \(index) and the same length"
        }
    }
}
