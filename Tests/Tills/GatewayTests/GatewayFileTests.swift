// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import TestSupport
import Testing

@testable import Gateway

@Suite("The gateway's configuration")
struct GatewayFileTests {
    private func file(_ text: String) throws(ConfigurationError) -> GatewayFile {
        try GatewayFile(file: "nfc-tap-gateway.toml", text: text)
    }

    @Test func `nobody has to write one, and the example says what holds without it`() throws {
        let path = Checkout.file("docs/examples/nfc-tap-gateway.toml").path
        let (example, none) = (try GatewayFile(path: path), try file(""))
        #expect(example.socket == none.socket && example.listen == none.listen && example.pages == none.pages)
        #expect(
            example.requestsPerSecond == none.requestsPerSecond && example.createsPerSecond == none.createsPerSecond)
        #expect(none.hosts.isEmpty && none.origins.isEmpty)
        #expect(none.listen.map { "\($0)" } == ["127.0.0.1:8716", "[::1]:8716"])
    }

    @Test(arguments: ["0.0.0.0:8716", "192.168.1.10:8716", "[::]:8716", "[fe80::1]:8716"])
    func `what other machines reach is refused, and a proxy named instead`(address: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try file("socket = \"/a\"\nlisten = [\"\(address)\"]") }
        #expect(error?.key == "listen" && error?.line == 2 && error?.remedy.contains("reverse proxy") == true)
    }

    @Test(arguments: [
        "https://pos.example", "https://pos.example:8443", "http://127.0.0.1:3000", "http://localhost:3000",
        "http://[::1]:3000",
    ])
    func `an origin is written as browsers write it`(origin: String) throws {
        #expect(try file("origins = [\"\(origin)\"]").origins == [origin])
    }

    @Test(arguments: [
        "*", "null", "https://*.example", "https://pos.example/", "https://POS.example", "https://pos.example:443",
        "http://pos.example", "http://192.168.1.10", "pos.example", "https://", "https://pos.example/till",
        "file:///tmp",
        "http://localhost:80", "https://user@pos.example", "http://127.0.0.1.evil.example",
    ])
    func `anything else ends the start with its line`(origin: String) {
        let error = #expect(throws: ConfigurationError.self) { try file("\norigins = [\"\(origin)\"]") }
        #expect(error?.key == "origins" && error?.line == 2)
    }

    @Test(arguments: [
        "Tills.example", "tills.example/", "https://tills.example", "tills..example", "tills.example:0", "-a.example",
    ])
    func `a proxy's name is a name`(host: String) {
        let error = #expect(throws: ConfigurationError.self) { try file("hosts = [\"\(host)\"]") }
        #expect(error?.key == "hosts")
    }
}
