// SPDX-License-Identifier: Apache-2.0
/// A reader's name taken apart: `FRIENDLYNAME [interface] (serial) II SS`.
///
/// Index and serial part change with every replug and with the order of plugging; the rest says what the reader is.
public struct PCSCReaderName: Equatable, Sendable {
    /// What stands behind the reader's slot.
    public enum Slot: String, Sendable {
        case contactless, contact, sam
        /// The name does not tell; a contactless ATR does.
        case unknown
    }

    public let full: String
    public let friendlyName: String
    public let interface: String?
    public let serial: String?

    public init(_ full: String) {
        self.full = full
        var rest = Substring(full)
        if let index = Self.indexSuffix(rest) { rest = rest[..<index] }
        serial = Self.takeBracketed(&rest, open: "(", close: ")")
        interface = Self.takeBracketed(&rest, open: "[", close: "]")
        friendlyName = String(rest)
    }

    /// What configuration is keyed on: stable across replugs.
    public var model: String { interface.map { "\(friendlyName) [\($0)]" } ?? friendlyName }

    public var slot: Slot {
        let words = Self.words(interface ?? "") + Self.words(friendlyName)
        // The interface text is the more exact of the two: it comes first.
        for word in words {
            if let slot = Self.slot(of: word) { return slot }
        }
        return Self.contactlessModels.contains { friendlyName.contains($0) } ? .contactless : .unknown
    }

    private static func slot(of word: Substring) -> Slot? {
        switch word {
        case "PICC", "CL", "CONTACTLESS", "KONTAKTLOS", "NFC", "RFID": .contactless
        case "ICC", "CONTACT": .contact
        case "SAM": .sam
        // "5422CL", "5025-CL"
        default: word.hasSuffix("CL") && word.dropLast(2).last?.isNumber == true ? .contactless : nil
        }
    }

    /// Readers whose names do not say that they have no contacts.
    private static let contactlessModels = [
        "SCL01", "SDI01", "OMNIKEY 5022", "OMNIKEY 5023", "OMNIKEY CardMan 5321", "Feitian R502", "Prox'N'Roll",
        "SpringCard Puck", "PN7462AU", "CLOUD 2700 F",
    ]

    private static func words(_ text: String) -> [Substring] {
        let words = text.uppercased().split { !$0.isLetter && !$0.isNumber }
        // "sans contact" and "contact less" are one word, and the opposite of "contact".
        return words.indices.map { index in
            let isNext = index > 0 && withoutContact.contains("\(words[index - 1]) \(words[index])")
            let isFirst = index + 1 < words.count && withoutContact.contains("\(words[index]) \(words[index + 1])")
            return isFirst || isNext ? "CONTACTLESS" : words[index]
        }
    }

    private static let withoutContact: Set<String> = [
        "CONTACT LESS", "NON CONTACT", "NO CONTACT", "WITHOUT CONTACT", "SANS CONTACT", "SIN CONTACTO", "SEM CONTACTO",
        "SEM CONTATO", "SENZA CONTATTO", "SENZA CONTATTI", "ZONDER CONTACT", "OHNE KONTAKT",
    ]

    /// Where the trailing ` II SS` (two hexadecimal digits each) begins.
    private static func indexSuffix(_ text: Substring) -> Substring.Index? {
        guard text.utf8.count > 6, let index = text.index(text.endIndex, offsetBy: -6, limitedBy: text.startIndex)
        else { return nil }
        let suffix = Array(text[index...])
        let digits = [suffix[1], suffix[2], suffix[4], suffix[5]]
        guard suffix[0] == " ", suffix[3] == " ", digits.allSatisfy(\.isHexDigit) else { return nil }
        return index
    }

    /// Cuts ` (text)` off the end.
    private static func takeBracketed(_ text: inout Substring, open: Character, close: Character) -> String? {
        guard text.last == close, let start = text.lastIndex(of: open), start > text.startIndex else { return nil }
        let inner = text[text.index(after: start)...].dropLast()
        text = text[..<start]
        while text.last == " " { text = text.dropLast() }
        return String(inner)
    }
}
