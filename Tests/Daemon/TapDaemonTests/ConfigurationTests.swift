// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Loyalty
import PaymentValues
import Profile
import ReaderModels
import Settings
import TestSupport
import Testing

@testable import TapDaemon

@Suite("What the daemon makes of a configuration file")
struct ConfigurationTests {
    private static let lane = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n"

    private func configuration(_ text: String) throws -> DaemonConfiguration {
        try DaemonConfiguration(try ConfigurationFile(file: "nfc-tapd.toml", text: text + Self.lane))
    }

    @Test("Without programmes test mode has those of the simulated phones, and live mode none")
    func programmes() throws {
        let own = "[[loyalty.programme]]\nid = \"mine\"\n[loyalty.programme.uid]\n"
        #expect(try configuration(own).offer.programmes.map(\.id) == ["mine"])
        #expect(try configuration("").offer.programmes.map(\.id) == ["club", "voucher", "member"])
        #expect(LoyaltyOffer(nil, mode: .live).programmes.isEmpty)
        let clock = try configuration("[loyalty]\nmaximum-clock-difference = 300\n")
        #expect(clock.offer.maximumClockDifference == 300)
        #expect(clock.offer.programmes.map(\.id) == ["club", "voucher", "member"])
    }

    @Test("Live mode takes no virtual reader, also where an option names it after the file was read")
    func virtualReader() throws {
        let folder = try TestFolder()
        var file = try ConfigurationFile(file: "nfc-tapd.toml", text: Self.lane)
        file.mode = .live
        file.lanes = [.init(name: "main", reader: .virtual(folder.path + "/reader.sock"))]
        #expect(throws: ConfigurationError.self) { try DaemonConfiguration(file) }
    }

    @Test("A profile in a file is read with its faults named; without [profile] none is asked for")
    func profileFile() throws {
        let folder = try TestFolder()
        #expect(try ConfigurationFile(file: "nfc-tapd.toml", text: Self.lane).profile == nil)
        let json = try PaymentService().json()
        try Data(json.utf8).write(to: URL(filePath: folder.path + "/p.json"))
        let text = "[profile]\nfile = \"\(folder.path)/p.json\"\n" + Self.lane
        #expect(try ConfigurationFile(file: "nfc-tapd.toml", text: text).profile?.file?.merchant.id == "M-4711")
        let wrong = json.replacing("\"country\": 276", with: "\"country\": 0")
        try Data(wrong.utf8).write(to: URL(filePath: folder.path + "/p.json"))
        #expect(refusal(text)?.key == "profile.file")
        #expect(refusal(text)?.problem.contains("merchant.country") == true)
    }

    private func refusal(_ text: String) -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try ConfigurationFile(file: "nfc-tapd.toml", text: text)
            return nil
        } catch {
            return error
        }
    }
}
