// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Why bytes cannot be read in the form asked for. Offsets count bytes from the start of the input.
public enum DecodeError: Error, Equatable, Sendable {
    case empty
    case tlv(TLVError)
    case dol(DOLError)
    case apdu(APDUError)
    /// An ATR or ATS that ends inside the part named.
    case cutOff(part: String, offset: Int)
    /// The first byte of an ATR is neither 3B nor 3F.
    case unknownConvention(UInt8)
    /// The check byte at the end of an ATR does not fit.
    case wrongCheckByte(offset: Int, expected: UInt8)
    /// TL of an ATS names another length than there is.
    case wrongLength(offset: Int, said: Int, have: Int)
    /// Bytes after the end of an ATR.
    case trailing(offset: Int)
}

extension DecodeError: CustomStringConvertible {
    /// One phrase with the offset.
    public var description: String {
        switch self {
        case .empty: "no bytes"
        case .tlv(let error): "not BER-TLV: \(error)"
        case .dol(let error): "not a data object list: \(error)"
        case .apdu(let error): "not an APDU: \(error)"
        case .cutOff(let part, let offset): "\(part) missing at offset \(offset)"
        case .unknownConvention(let byte):
            "not an ATR: the first byte \(Hex.string([byte])) is neither 3B nor 3F"
        case .wrongCheckByte(let offset, let expected):
            "check byte at offset \(offset) should be \(Hex.string([expected]))"
        case .wrongLength(let offset, let said, let have):
            "length byte at offset \(offset) says \(said) bytes, \(have) follow"
        case .trailing(let offset): "extra bytes at offset \(offset)"
        }
    }
}
