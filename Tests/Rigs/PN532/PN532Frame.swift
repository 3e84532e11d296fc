// SPDX-License-Identifier: Apache-2.0
/// Frames of the PN532's serial line (PN532 user manual §6.2.1), as the chip sends them.
public enum PN532Frame {
    public static let ack: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    public static let nack: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    /// The application error frame: "syntax error".
    public static let error: [UInt8] = [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]

    /// Response code and data in a normal frame, or an extended one above 254 bytes.
    public static func answer(_ data: [UInt8]) -> [UInt8] {
        let body = [0xD5] + data
        let sum = body.reduce(UInt8(0), &+)
        return header(length: body.count) + body + [0 &- sum, 0x00]
    }

    private static func header(length: Int) -> [UInt8] {
        let low = UInt8(truncatingIfNeeded: length)
        guard length > 255 else { return [0x00, 0x00, 0xFF, low, 0 &- low] }
        let high = UInt8(truncatingIfNeeded: length >> 8)
        return [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- (high &+ low)]
    }
}
