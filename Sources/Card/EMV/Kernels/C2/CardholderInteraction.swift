// SPDX-License-Identifier: Apache-2.0
/// POS Cardholder Interaction Information (DF4B, three bytes) and the message it leads to (C-2 A.1.119, A.1.118).
struct CardholderInteraction: Equatable {
    let bytes: [UInt8]

    /// - Parameter bytes: `nil` unless three bytes.
    init?(_ bytes: [UInt8]?) {
        guard let bytes, bytes.count == 3 else { return nil }
        self.bytes = bytes
    }

    /// Byte 2 bit 5: on-device cardholder verification successful.
    var isVerified: Bool { bytes[1] & 0x10 != 0 }
    /// The device has to be presented a second time.
    var needsSecondTap: Bool { bytes[1] & 0x03 != 0 || bytes[2] & 0x0F != 0 }

    /// The first entry of a Phone Message Table (DF8131) that matches: eight bytes of mask, value, message and status.
    func message(in table: [UInt8]) -> (message: UIRequest.Message, status: UIRequest.Status) {
        for start in stride(from: 0, through: table.count - 8, by: 8) {
            let matches = (0..<3).allSatisfy { bytes[$0] & table[start + $0] == table[start + 3 + $0] }
            guard matches, let message = UIRequest.Message(rawValue: table[start + 6]) else { continue }
            return (message, UIRequest.Status(rawValue: table[start + 7]) ?? .notReady)
        }
        return (.notAuthorised, .notReady)
    }
}
