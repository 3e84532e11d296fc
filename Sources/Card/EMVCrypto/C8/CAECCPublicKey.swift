// SPDX-License-Identifier: Apache-2.0
import Crypto
public import EMV

/// A certification authority's ECC public key for kernel 8 (EMV Contactless Book E §5.1): a point of P-256.
public struct CAECCPublicKey: Sendable {
    /// Registered application provider identifier, five bytes.
    public let rid: [UInt8]
    /// The card names the key by it in 8F.
    public let index: UInt8
    /// x ‖ y, 64 bytes.
    public let point: [UInt8]
    /// Last day of use, or `nil` where the configuration sets none.
    public let expiry: EMVDate?
    public let environment: CAPublicKey.Environment
    let key: CurvePoint

    /// - Throws: `.badRID`, or `.badPoint` where `point` is not 64 bytes of a point on the curve.
    public init(
        rid: [UInt8], index: UInt8, point: [UInt8], expiry: EMVDate? = nil, environment: CAPublicKey.Environment
    ) throws(CAPublicKeyError) {
        guard rid.count == 5 else { throw .badRID }
        guard let key = CurvePoint(point) else { throw .badPoint }
        self.rid = rid
        self.index = index
        self.point = point
        self.expiry = expiry
        self.environment = environment
        self.key = key
    }

    /// As the other initialiser, and the point has to agree with a published checksum.
    ///
    /// - Throws: `.wrongChecksum` besides.
    public init(
        rid: [UInt8], index: UInt8, point: [UInt8], checksum: [UInt8], expiry: EMVDate? = nil,
        environment: CAPublicKey.Environment
    ) throws(CAPublicKeyError) {
        try self.init(rid: rid, index: index, point: point, expiry: expiry, environment: environment)
        guard CAECCPublicKey.checksums(rid: rid, index: index, point: point).contains(checksum) else {
            throw .wrongChecksum
        }
    }

    /// SHA-256 and SHA-1 over RID, index, suite 10, x and y: either is what a scheme may publish with a key (C-8 1.2
    /// Table 4.3, one source).
    public static func checksums(rid: [UInt8], index: UInt8, point: [UInt8]) -> [[UInt8]] {
        let input = rid + [index, 0x10] + point
        return [Array(SHA256.hash(data: input)), sha1(input)]
    }

    /// Whether the key may be used on `date`.
    public func isValid(on date: EMVDate) -> Bool {
        guard let expiry else { return true }
        return date <= expiry
    }
}
