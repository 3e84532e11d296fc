// SPDX-License-Identifier: Apache-2.0
/// Terminal Interchange Profile (9F53 of kernel 5, three bytes; K5-1).
struct TerminalInterchangeProfile: Equatable {
    private(set) var bytes: [UInt8]

    /// The static profile with the dynamic bit cleared; another length than three gives a reader that can do nothing.
    init(_ configured: [UInt8]?) {
        bytes = configured?.count == 3 ? configured ?? [] : [0, 0, 0]
        requiresCVM = false
    }

    /// Byte 1 bit 8, set in every transaction anew.
    var requiresCVM: Bool {
        get { bytes[0] & 0x80 != 0 }
        set { bytes[0] = bytes[0] & 0x7F | (newValue ? 0x80 : 0x00) }
    }
    var supportsSignature: Bool { bytes[0] & 0x40 != 0 }
    var supportsOnlinePIN: Bool { bytes[0] & 0x20 != 0 }
    var supportsDeviceCVM: Bool { bytes[0] & 0x10 != 0 }
    /// Byte 2 bit 8.
    var supportsIssuerUpdate: Bool { bytes[1] & 0x80 != 0 }

    /// K5-5. What the card's Cardholder Verification Status (9F50) comes to.
    ///
    /// - Returns: `nil` where the reader requires a verification and the card has none, or cannot do what it says.
    func verification(_ status: UInt8) -> CVMSelection? {
        switch status {
        case 0x00:
            requiresCVM ? nil : CVMSelection(cvm: .noCVM, results: [0x1F, 0x00, 0x02])
        case 0x10:
            supportsSignature
                ? CVMSelection(cvm: .obtainSignature, results: [0x1E, 0x00, 0x00], receipt: true) : nil
        case 0x20:
            supportsOnlinePIN ? CVMSelection(cvm: .onlinePIN, results: [0x02, 0x00, 0x00]) : nil
        case 0x30...0x3F:
            supportsDeviceCVM
                ? CVMSelection(cvm: .confirmationCodeVerified, results: [0x01, 0x00, 0x02]) : nil
        case _: nil
        }
    }

    /// K5-5. Legacy cards have no 9F50: the reader's own means where it requires a verification. Unverified.
    var legacyVerification: CVMSelection? {
        if !requiresCVM { return verification(0x00) }
        return verification(0x10) ?? verification(0x20)
    }
}
