// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Constants and the fixed commands of Google Smart Tap 2.x.
public enum SmartTap {
    /// Application A000000476D0000111; the older …0101 is dead.
    public static let application: [UInt8] = [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x11]
    /// The certified version number; its owner calls it 2.1.
    public static let version: UInt16 = 0x0001
    /// GET MORE is sent at most so often for one answer.
    public static let maximumParts = 32
    /// An answer, joined from its parts, is at most this long, in bytes.
    public static let maximumAnswerLength = 16_384
    /// A decompressed bundle is at most this long, in bytes.
    public static let maximumBundleLength = 262_144

    /// SELECT of the Smart Tap application.
    ///
    /// - Throws: `APDUError` never: the name fits.
    public static func select() throws(APDUError) -> CommandAPDU { try .select(application) }

    /// GET MORE: `90 C0 00 00 00`, without a data field.
    ///
    /// - Throws: `APDUError` never: the command fits.
    public static func getMore() throws(APDUError) -> CommandAPDU {
        try CommandAPDU(cla: 0x90, ins: 0xC0, p1: 0x00, p2: 0x00, le: 256)
    }

    static func command(_ ins: UInt8, _ message: NDEFWriter) throws(APDUError) -> CommandAPDU {
        try CommandAPDU(cla: 0x90, ins: ins, p1: 0x00, p2: 0x00, data: message.bytes, le: 256)
    }
}

/// What the Smart Tap application answers its SELECT with: versions and an NDEF message with the nonce.
public struct SmartTapSelectResponse: Equatable, Sendable {
    public let versions: SmartTapVersions
    /// 32 bytes; `nil` where the record is missing or of another length.
    public let deviceNonce: [UInt8]?

    /// - Returns: `nil` where the versions or the NDEF message are damaged.
    public init?(_ data: [UInt8]) {
        guard data.count >= 4,
            let versions = SmartTapVersions(minimum: Array(data[0..<2]), maximum: Array(data[2..<4]))
        else { return nil }
        self.versions = versions
        guard data.count > 4 else {
            deviceNonce = nil
            return
        }
        guard let records = try? NDEF.records(data.span, in: 4..<data.count) else { return nil }
        let span = data.span
        let nonce = records.first { $0.isNamed("mdn", in: span) }?.payload
        deviceNonce = nonce.flatMap { range in
            range.count == 33 && data[range.lowerBound] == 0x04 ? Array(data[range.dropFirst()]) : nil
        }
    }
}
