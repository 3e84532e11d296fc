// SPDX-License-Identifier: Apache-2.0
/// A reader's name taken apart: `FRIENDLYNAME [interface] (serial) II SS`.
///
/// pcscd counts readers in `II`, in the order of connecting, and a reader's slots in `SS`; both are hexadecimal. The serial
/// part is the reader's own, or its place on the bus. The rest says what the reader is.
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
    /// `II`: changes with every replug and with the order of plugging.
    public let readerNumber: UInt8?
    /// `SS`: the same slot of a device keeps it.
    public let slotNumber: UInt8?

    public init(_ full: String) {
        self.full = full
        var rest = Substring(full)
        let numbers = Self.numbers(atEndOf: rest)
        if let numbers { rest = rest[..<numbers.start] }
        (readerNumber, slotNumber) = (numbers?.reader, numbers?.slot)
        serial = Self.takeBracketed(&rest, open: "(", close: ")")
        interface = Self.takeBracketed(&rest, open: "[", close: "]")
        friendlyName = String(rest)
    }

    /// What configuration is keyed on: stable across replugs.
    public var model: String { interface.map { "\(friendlyName) [\($0)]" } ?? friendlyName }

    /// What a replug leaves as it is, as far as the serial part is the reader's own: the name without its two numbers.
    public var stem: String { serial.map { "\(model) (\($0))" } ?? model }

    /// What the name says of the slot. A word for the whole device says nothing of one of its several slots.
    public var slot: Slot {
        let own = Self.words(interface ?? "")
        for word in own { if let slot = Self.slot(of: word) { return slot } }
        let words = Self.words(friendlyName)
        for word in words where Self.slotWords.contains(word) {
            if let slot = Self.slot(of: word) { return slot }
        }
        let known = ReaderModels.model(named: friendlyName)
        if let known, !known.quirks.isDisjoint(with: [.severalSlots, .sharesDeviceID]) { return .unknown }
        for word in words { if let slot = Self.slot(of: word) { return slot } }
        return known?.backend == .pcsc ? .contactless : .unknown
    }

    /// Whether `text` stands in the name, upper and lower case alike. An empty one stands in all.
    public func contains(_ text: String) -> Bool {
        text.isEmpty || full.lowercased().contains(text.lowercased())
    }

    /// Whether both are slots of one device: of one reader as pcscd counts them, or of two interfaces of one USB device, which
    /// have its serial number in common and differ in their texts.
    public func isOfSameDevice(as other: PCSCReaderName) -> Bool {
        guard friendlyName == other.friendlyName, serial == other.serial else { return false }
        if let number = readerNumber, number == other.readerNumber { return true }
        return serial != nil && interface != other.interface
    }

    /// The names device by device, each in the order in which it comes.
    public static func devices(of names: [PCSCReaderName]) -> [[PCSCReaderName]] {
        var devices: [[PCSCReaderName]] = []
        for name in names {
            if let index = devices.firstIndex(where: { $0.contains { $0.isOfSameDevice(as: name) } }) {
                devices[index].append(name)
            } else {
                devices.append([name])
            }
        }
        return devices
    }

    /// Words that a driver gives to one slot, and never to a device with several.
    private static let slotWords: Set<Substring> = ["PICC", "ICC", "SAM"]

    private static func slot(of word: Substring) -> Slot? {
        switch word {
        case "PICC", "CL", "CONTACTLESS", "KONTAKTLOS", "NFC", "RFID": .contactless
        case "ICC", "CONTACT": .contact
        case "SAM": .sam
        case "CONTACTED": .contact
        // "5422CL", "5025-CL"
        default: word.hasSuffix("CL") && word.dropLast(2).last?.isNumber == true ? .contactless : nil
        }
    }

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

    /// The trailing ` II SS` (two hexadecimal digits each), and where it begins.
    private static func numbers(
        atEndOf text: Substring
    ) -> (reader: UInt8, slot: UInt8, start: Substring.Index)? {
        guard text.utf8.count > 6, let start = text.index(text.endIndex, offsetBy: -6, limitedBy: text.startIndex)
        else { return nil }
        let suffix = text[start...]
        guard suffix.utf8.count == 6, suffix.first == " ", suffix.dropFirst(3).first == " ",
            let reader = byte(suffix.dropFirst().prefix(2)), let slot = byte(suffix.suffix(2))
        else { return nil }
        return (reader, slot, start)
    }

    private static func byte(_ digits: Substring) -> UInt8? {
        digits.allSatisfy(\.isHexDigit) ? UInt8(digits, radix: 16) : nil
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
