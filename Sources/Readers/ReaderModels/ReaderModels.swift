// SPDX-License-Identifier: Apache-2.0
/// Finds the model of a reader by what is known of it: USB id, the name a driver gives it, libnfc's connection string.
public enum ReaderModels {
    /// Every model of the table.
    public static let all = acs + hid + identiv + others + listed + pn53x

    public static func model(of device: USBDeviceID) -> ReaderModel? {
        all.first { $0.devices.contains(device) }
    }

    /// The model that a PC/SC or libnfc device name speaks of. Letter case, spaces, punctuation and what clones add or
    /// leave out around the model's own designation do not matter.
    public static func model(named name: String) -> ReaderModel? {
        let text = signs(name)
        var best: (model: ReaderModel, length: Int)?
        for model in all {
            for mark in model.marks where mark.utf8.count > best?.length ?? 0 && stands(mark.utf8, in: text) {
                best = (model, mark.utf8.count)
            }
        }
        return best?.model
    }

    /// The model behind one of libnfc's connection strings: `pn532_uart:/dev/ttyUSB0`, `pn53x_usb:001:004`. Where the
    /// driver serves several models, the plainest of them.
    public static func model(connection: String) -> ReaderModel? {
        let driver = connection.prefix { $0 != ":" }
        return connectionDrivers.first { $0.driver == driver }.flatMap { entry in all.first { $0.name == entry.model } }
    }

    private static let connectionDrivers: [(driver: String, model: String)] = [
        ("pn532_uart", pn532Board.name), ("pn532_i2c", pn532Board.name), ("pn532_spi", pn532Board.name),
        ("pn53x_usb", "NXP PN533"), ("acr122_usb", "ACS ACR122U"),
    ]

    /// A letter or digit of a name in upper case, and whether something else stands before it.
    private struct Sign {
        let value: UInt8
        let followsGap: Bool

        var isDigit: Bool { (0x30...0x39).contains(value) }
    }

    private static func signs(_ text: String) -> [Sign] {
        var signs: [Sign] = []
        var gap = true
        for value in text.uppercased().utf8 {
            let isSign = (0x30...0x39).contains(value) || (0x41...0x5A).contains(value)
            if isSign { signs.append(Sign(value: value, followsGap: gap)) }
            gap = !isSign
        }
        return signs
    }

    /// Whether `mark` is a part of `text` that no digit continues: an ACR122 is no ACR1222.
    private static func stands(_ mark: String.UTF8View, in text: [Sign]) -> Bool {
        guard text.count >= mark.count else { return false }
        return (0...(text.count - mark.count)).contains { start in
            let end = start + mark.count
            guard text[start..<end].lazy.map(\.value).elementsEqual(mark) else { return false }
            guard end < text.count, text[end - 1].isDigit, text[end].isDigit else { return true }
            return text[end].followsGap
        }
    }
}
