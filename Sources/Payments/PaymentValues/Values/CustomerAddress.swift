// SPDX-License-Identifier: Apache-2.0
/// Where a customer may have something sent to.
extension String {
    /// `+` and 7 to 15 digits, of which the first is none of 0 (ITU-T E.164 §6.2.1).
    package var isPhoneNumber: Bool {
        let digits = utf8.dropFirst()
        return utf8.first == UInt8(ascii: "+") && (7...15).contains(digits.count) && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// As people write one (RFC 5321 §4.5.3.1): a name, one `@`, and a domain with a dot inside; no blanks and no control characters.
    package var isEmailAddress: Bool {
        guard (6...254).contains(utf8.count), utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            !unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
            ),
            !utf8.contains(where: { Array("<>()[]\\,;:\"".utf8).contains($0) })
        else { return false }
        let parts = split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count) else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}
