// SPDX-License-Identifier: Apache-2.0
/// A short command APDU, cases 1 to 4 (ISO/IEC 7816-3 §12.1). Contactless EMV uses short APDUs only.
public struct CommandAPDU: Equatable, Sendable {
    public let cla: UInt8
    public let ins: UInt8
    public let p1: UInt8
    public let p2: UInt8
    /// 0…255 bytes.
    public let data: [UInt8]
    /// Largest answer wanted, 1…256 bytes; `nil` where the command has no Le.
    public let le: Int?

    /// - Throws: `.dataTooLong` above 255 bytes of data, `.leOutOfRange` outside 1…256.
    public init(
        cla: UInt8, ins: UInt8, p1: UInt8, p2: UInt8, data: [UInt8] = [], le: Int? = nil
    ) throws(APDUError) {
        guard data.count <= 255 else { throw .dataTooLong(data.count) }
        if let le {
            guard (1...256).contains(le) else { throw .leOutOfRange(le) }
        }
        self.cla = cla
        self.ins = ins
        self.p1 = p1
        self.p2 = p2
        self.data = data
        self.le = le
    }

    /// Reads a short C-APDU of any case.
    ///
    /// - Throws: `.truncated` for fewer than 4 bytes, `.lengthMismatch` where Lc and the bytes present disagree.
    public init(_ bytes: [UInt8]) throws(APDUError) {
        guard bytes.count >= 4 else { throw .truncated(bytes.count) }
        cla = bytes[0]
        ins = bytes[1]
        p1 = bytes[2]
        p2 = bytes[3]
        switch bytes.count {
        case 4:
            data = []
            le = nil
        case 5:
            data = []
            le = bytes[4] == 0 ? 256 : Int(bytes[4])
        default:
            let lc = Int(bytes[4])
            guard lc > 0, bytes.count == 5 + lc || bytes.count == 6 + lc else {
                throw .lengthMismatch(lc: lc, have: bytes.count - 5)
            }
            data = Array(bytes[5..<5 + lc])
            let last = bytes[bytes.count - 1]
            le = bytes.count == 6 + lc ? (last == 0 ? 256 : Int(last)) : nil
        }
    }

    /// The command as transmitted; Le = 256 is coded 00.
    public var bytes: [UInt8] {
        var bytes = [cla, ins, p1, p2]
        if !data.isEmpty {
            bytes.append(UInt8(truncatingIfNeeded: data.count))
            bytes += data
        }
        if let le { bytes.append(UInt8(truncatingIfNeeded: le)) }
        return bytes
    }

    /// The same command with another Le, for the answer 6Cxx.
    ///
    /// - Throws: `APDUError.leOutOfRange` unless `le` is 1…256.
    public func withLe(_ le: Int) throws(APDUError) -> CommandAPDU {
        try CommandAPDU(cla: cla, ins: ins, p1: p1, p2: p2, data: data, le: le)
    }
}

extension CommandAPDU {
    /// SELECT by DF name, first or only occurrence (EMV Book 1 §11.3).
    ///
    /// - Throws: `APDUError.dataTooLong` for a name of more than 255 bytes.
    public static func select(_ name: [UInt8]) throws(APDUError) -> CommandAPDU {
        try CommandAPDU(cla: 0x00, ins: 0xA4, p1: 0x04, p2: 0x00, data: name, le: 256)
    }

    /// GET RESPONSE for the `count` (1…256) bytes that SW 61xx announced (ISO/IEC 7816-4 §11.4.3).
    ///
    /// - Throws: `APDUError.leOutOfRange` unless `count` is 1…256.
    public static func getResponse(_ count: Int) throws(APDUError) -> CommandAPDU {
        try CommandAPDU(cla: 0x00, ins: 0xC0, p1: 0x00, p2: 0x00, le: count)
    }
}
