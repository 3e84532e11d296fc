// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Lists that a card gives of its files and objects.
enum FileMeaning {
    /// Application File Locator (94; EMV Book 3 §10.2).
    static func locator(_ value: [UInt8]) -> [Meaning] {
        guard let locator = ApplicationFileLocator(value) else { return [Meaning("not a valid file locator")] }
        return locator.entries.enumerated().map { index, entry in
            Meaning("bytes \(index * 4 + 1)-\(index * 4 + 4)", phrase(entry))
        }
    }

    static func phrase(_ entry: ApplicationFileLocator.Entry) -> String {
        let records = entry.first == entry.last ? "record \(entry.first)" : "records \(entry.first)-\(entry.last)"
        let signed =
            switch entry.authenticated {
            case 0: "none signed"
            case 1: "1 signed"
            case let count: "\(count) signed"
            }
        return "SFI \(entry.sfi), \(records), \(signed)"
    }

    /// Static Data Authentication Tag List (9F4A).
    static func tagList(_ value: [UInt8]) -> [Meaning] {
        value == [0x82]
            ? [Meaning("the AIP is signed too")] : [Meaning("anything but 82 makes authentication impossible")]
    }

    /// Log Entry (9F4D): SFI and number of records (EMV Book 3 Annex D).
    static func logEntry(_ value: [UInt8]) -> [Meaning]? {
        value.count == 2 ? [Meaning("transaction log in SFI \(value[0]), \(value[1]) records")] : nil
    }

    /// Third Party Data (9F6E of kernel 2; EMV Contactless Book C-2 §A.1.167).
    static func thirdParty(_ value: [UInt8]) -> [Meaning]? {
        guard value.count >= 5 else { return nil }
        var meanings: [Meaning] = []
        if let country = BCD.decode(value[0..<2]) { meanings.append(Meaning("bytes 1-2", CodeNames.country(country))) }
        meanings.append(Meaning("bytes 3-4", "unique identifier \(Hex.string(value[2..<4]))"))
        if value[2] & 0x80 == 0, value.count >= 6 {
            let type = CardText.ascii(Array(value[4..<6]))
            meanings.append(Meaning("bytes 5-6", "device type \(type)\(type == "00" ? " (card)" : "")"))
        }
        return meanings
    }
}
