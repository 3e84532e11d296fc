// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReaderModels
import TestSupport
import Testing

/// The table of models against the list of Debian's libccid, and against docs/shop/readers.md.
struct ReaderListTests {
    private static let list = "/etc/libccid_Info.plist"

    private struct Columns: Decodable {
        let ifdVendorID: [String]
        let ifdProductID: [String]
        let ifdFriendlyName: [String]
    }

    /// USB ids and names of libccid's list.
    private static func listed() throws -> [(device: USBDeviceID, name: String)] {
        let data = try Data(contentsOf: URL(filePath: list))
        let columns = try PropertyListDecoder().decode(Columns.self, from: data)
        return zip(zip(columns.ifdVendorID, columns.ifdProductID), columns.ifdFriendlyName).compactMap { id, name in
            USBDeviceID(vendor: String(id.0.dropFirst(2)), product: String(id.1.dropFirst(2))).map { ($0, name) }
        }
    }

    /// What a contactless word of the list stands for there: tokens, and readers of another frequency or of memory cards.
    private static let others: Set<String> = ["08e6:4042", "2a18:5002", "04e6:581a"]

    @Test(
        "R15: each reader that libccid calls contactless is in the table, under its name",
        .enabled(if: FileManager.default.fileExists(atPath: list)))
    func libccid() throws {
        let words: Set<Substring> = [
            "CL", "PICC", "NFC", "RFID", "RFRW", "RF", "CONTACTLESS", "DUAL", "PROX", "COMBI", "DI",
        ]
        let listed = try Self.listed()
        #expect(listed.count > 500)
        var count = 0
        for (device, name) in listed where !Self.others.contains("\(device)") {
            let own = name.uppercased().split { !$0.isLetter && !$0.isNumber }
            guard let model = ReaderModels.model(of: device) else {
                // "Dual Reader" of a maker's model with a CL in it, and so on.
                #expect(words.isDisjoint(with: own), "\(device) \(name) is not in the table")
                continue
            }
            count += 1
            #expect(ReaderModels.model(named: name) == model, "\(device) \(name)")
            #expect(!model.quirks.contains(.foundByClass), "\(name) is in the list")
        }
        #expect(count >= 100)
    }

    @Test(
        "R15: a reader that is known by its class only says so, and no other one",
        .enabled(if: FileManager.default.fileExists(atPath: list)))
    func byClass() throws {
        let listed = Set(try Self.listed().map(\.device))
        for model in ReaderModels.all where model.backend == .pcsc {
            let isListed = model.devices.contains(where: listed.contains)
            #expect(isListed != model.quirks.contains(.foundByClass), "\(model.name)")
        }
    }

    @Test("R15: docs/shop/readers.md has every id of the table, and no other")
    func page() throws {
        let page = try String(contentsOf: Checkout.file("docs/shop/readers.md"), encoding: .utf8)
        var devices: [USBDeviceID] = []
        for row in page.split(separator: "\n") where row.hasPrefix("| ") {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count > 3, cells[2] == "PC/SC" || cells[2] == "libnfc" else { continue }
            var vendor = ""
            for id in cells[1].split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                let parts = id.split(separator: ":").map(String.init)
                if parts.count == 2 { vendor = parts[0] }
                let device = USBDeviceID(vendor: vendor, product: parts.last ?? "")
                #expect(device != nil || id.contains("none of its own"), "\(row)")
                if let device { devices.append(device) }
                if let device, cells.count > 4 {
                    let isByClass = ReaderModels.model(of: device)?.quirks.contains(.foundByClass)
                    #expect(isByClass == cells[4].contains("by class"), "\(row)")
                }
            }
        }
        #expect(devices.count == Set(devices).count)
        #expect(Set(devices) == Set(ReaderModels.all.flatMap(\.devices)))
    }
}
