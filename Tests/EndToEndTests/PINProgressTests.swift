// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("What nfc-tap pay says while a customer enters the PIN", .timeLimit(.minutes(5)))
struct PINProgressTests {
    private static let lane = """
        mode = "test"
        [[lane]]
        name = "main"
        reader = "virtual:FOLDER/reader.sock"
        """

    /// A shop with the sandbox's PIN device, whose key is the sandbox's own.
    private func shop() throws -> Shop {
        let shop = try Shop(startsSandbox: false, configuration: Self.lane)
        shop.killDaemon()
        let device = shop.folder.appending(path: "ped.sock").path
        try shop.startSandbox(["--pin-device", device, "--pin-delay", "0.1"])
        let key = shop.folder.appending(path: "pad.jwk")
        let keys = try shop.get("/v1/keys", socket: shop.pspSocket)["keys"] as? [[String: Any]]
        try JSONSerialization.data(withJSONObject: try #require(keys?.first)).write(to: key)
        let configuration = """
            \(Self.lane.replacingOccurrences(of: "FOLDER", with: shop.folder.path))
            pin-device = "pad"
            [pin-devices.pad]
            socket = "\(device)"
            key = "\(key.path)"
            key-set = "test-aes-dukpt"
            """
        try Data(configuration.utf8).write(to: shop.folder.appending(path: "nfc-tapd.toml"))
        try shop.startDaemon()
        try shop.awaitReader()
        return shop
    }

    @Test func `it says that the customer is asked and has answered, in the language of --language, beside the JSON`()
        throws
    {
        let shop = try shop()
        let told = [
            "en": ["the customer enters the PIN on the device", "PIN entered", "authorising"],
            "de": ["der Kunde gibt die PIN am Gerät ein", "PIN eingegeben", "Genehmigung wird eingeholt"],
        ]
        for (language, lines) in told {
            try shop.card("present mastercard")
            let result = try shop.tap(["pay", "60.00", "EUR", "--language", language, "--json"])
            try shop.card("remove")
            #expect(result.status == 0, "\(result.output)\(result.errors)")
            let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            #expect(json?["state"] as? String == "approved")
            let said = result.errors.split(separator: "\n").map { String($0.trimmingPrefix("nfc-tap: ")) }
            #expect(said.filter(lines.contains) == lines, "\(result.errors)")
        }
    }
}
