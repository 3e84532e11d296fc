// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension SelectedApplication {
    /// What the application is called on a receipt (EMV Book 4 §11.3): the preferred name (9F12) where its code table
    /// (9F11) can be shown, else the label (50), else the AID in hexadecimal.
    public var displayName: String {
        if let preferredName, let text = SelectedApplication.text(preferredName, table: codeTableIndex) { return text }
        if let label, let text = SelectedApplication.text(label, table: nil) { return text }
        return Hex.string(matchingAID)
    }

    /// Table 1 is ISO/IEC 8859-1. Of the others only the characters they share with ASCII are shown.
    ///
    /// - Returns: `nil` where there is nothing to show.
    package static func text(_ bytes: [UInt8], table: UInt8?) -> String? {
        let trimmed = bytes.reversed().drop { $0 == 0x20 || $0 == 0x00 }.reversed()
        let isShown = trimmed.allSatisfy { byte in
            (0x20...0x7E).contains(byte) || table == 1 && byte >= 0xA0
        }
        guard isShown, !trimmed.isEmpty else { return nil }
        return String(String.UnicodeScalarView(trimmed.map { Unicode.Scalar($0) }))
    }
}
