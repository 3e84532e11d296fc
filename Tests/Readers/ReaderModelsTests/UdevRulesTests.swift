// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReaderModels
import TestSupport
import Testing

/// udev/72-nfc-tap.rules and udev/nfc-tap-modprobe.conf against the table.
struct UdevRulesTests {
    @Test func `each reader with a USB id of its own has a rule, for the program that opens it`() throws {
        let rules = try Rules()
        for model in ReaderModels.all {
            for device in model.devices {
                #expect(rules.backends[device] == model.backend, "\(model.name) \(device)")
            }
        }
    }

    @Test func `no rule is for a device that is not in the table`() throws {
        for device in try Rules().backends.keys {
            #expect(ReaderModels.model(of: device) != nil, "\(device)")
        }
    }

    @Test func `no reader is given to whoever sits at the screen, or to another group by a later rule`() throws {
        let lines = try Rules().lines.filter { $0.contains("GROUP") || $0.contains("MODE") }
        #expect(lines.count == 2)
        for line in lines {
            #expect(line.contains("TAG-=\"uaccess\""))
            #expect(line.contains("GROUP:=") && line.contains("MODE:=\"0660\""))
            #expect(line.contains("ENV{SYSTEMD_WANTS}+=\"nfc-tapd.service\""))
        }
    }

    @Test func `the kernel's own drivers are kept from loading`() throws {
        let text = try String(contentsOf: Rules.folder.appending(path: "nfc-tap-modprobe.conf"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(Set(lines) == ["blacklist nfc", "blacklist pn533", "blacklist pn533_usb"])
    }

    /// The part of udev's language that the file uses.
    private struct Rules {
        static let folder = Checkout.file("udev")
        private(set) var lines: [String] = []
        private(set) var backends: [USBDeviceID: ReaderModel.Backend] = [:]

        init() throws {
            let text = try String(contentsOf: Rules.folder.appending(path: "72-nfc-tap.rules"), encoding: .utf8)
            lines = text.replacing("\\\n", with: "").split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("#") }
            for line in lines {
                guard let vendor = Rules.value("ATTR{idVendor}==", line),
                    let products = Rules.value("ATTR{idProduct}==", line)
                else { continue }
                let label = try #require(Rules.value("GOTO=", line))
                let backend: ReaderModel.Backend = label == "nfc_tap_libnfc" ? .libnfc : .pcsc
                for product in products.split(separator: "|") {
                    let device = try #require(USBDeviceID(vendor: vendor, product: String(product)), "\(line)")
                    #expect(backends.updateValue(backend, forKey: device) == nil, "\(device) is there twice")
                }
            }
            #expect(!backends.isEmpty)
        }

        private static func value(_ key: String, _ line: String) -> String? {
            guard let start = line.range(of: key + "\"")?.upperBound else { return nil }
            return String(line[start...].prefix { $0 != "\"" })
        }
    }
}
