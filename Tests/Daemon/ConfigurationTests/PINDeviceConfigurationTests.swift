// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import PaymentValues
import Settings
import Testing

@testable import Configuration

@Suite("PIN devices in the configuration file")
struct PINDeviceConfigurationTests {
    private let lane = "[[lane]]\nname = \"till-1\"\nreader = \"pcsc:ACR122U\"\n"
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Data(RecipientKey.sandboxTest.jwk.utf8).write(to: URL(filePath: "\(folder.path)/pad.jwk"))
    }

    private func read(_ text: String) throws(ConfigurationError) -> ConfigurationFile {
        try ConfigurationFile(file: "nfc-tapd.toml", text: text)
    }

    private func faulty(_ text: String) -> String? {
        do throws(ConfigurationError) {
            _ = try read(text)
            return nil
        } catch {
            return error.key
        }
    }

    private func device(_ more: String = "", key: String? = nil) -> String {
        """
        [pin-devices.pad-1]
        socket = "/run/nfc-tap/ped.sock"
        key = "\(key ?? folder.path + "/pad.jwk")"
        key-set = "tmk-7"
        \(more)

        """
    }

    @Test("A lane names its device, and a device what is believed of it")
    func read() throws {
        #expect(try read(lane).pinDevices.isEmpty)
        let file = try read(device("approval = \"4-12345\"") + lane + "pin-device = \"pad-1\"\n")
        #expect(file.lanes.map(\.pinDevice) == ["pad-1"])
        #expect(
            file.pinDevices == [
                "pad-1": PINDeviceSettings(
                    socket: "/run/nfc-tap/ped.sock", key: .sandboxTest, keySet: "tmk-7", approval: "4-12345")
            ])
    }

    @Test("What is missing or made up is named")
    func wrong() throws {
        #expect(faulty(lane + "pin-device = \"pad-2\"\n" + device()) == "lane till-1")
        #expect(faulty(lane + device(key: "/nowhere")) == "pin-devices.pad-1.key")
        #expect(faulty(lane + device("colour = \"red\"")) == "pin-devices.pad-1.colour")
        #expect(faulty(lane + "[pin-devices.pad-1]\nsocket = \"ped.sock\"\n") == "pin-devices.pad-1.socket")
    }

    @Test("Live mode takes no published key, and no device whose approval nobody has written down")
    func live() throws {
        let text = "mode = \"live\"\n" + lane + device("approval = \"4-1\"")
        let faults = Self.faults(text, folder)
        #expect(faults.contains("pin-devices.pad-1.key"))
        #expect(!faults.contains("pin-devices.pad-1.approval"))
        #expect(Self.faults("mode = \"live\"\n" + lane + device(), folder).contains("pin-devices.pad-1.approval"))
    }

    /// Every setting that something is wrong with.
    private static func faults(_ text: String, _ folder: TestFolder) -> [String] {
        let path = folder.path + "/nfc-tapd.toml"
        try? Data(text.utf8).write(to: URL(filePath: path))
        return ConfigurationFile.read(path: path, host: ConfigurationHost(), at: 1_800_000_000).faults.map(\.key)
    }
}
