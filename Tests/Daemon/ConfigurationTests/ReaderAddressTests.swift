// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Configuration

@Suite("How a reader is named")
struct ReaderAddressTests {
    static let names: [(String, ReaderAddress?)] = [
        ("pcsc", .pcsc("")), ("pcsc:", .pcsc("")), ("pcsc:ACS: 1", .pcsc("ACS: 1")),
        ("libnfc:pn532_uart:/dev/ttyS0", .libnfc("pn532_uart:/dev/ttyS0")), ("libnfc", nil), ("libnfc:", nil),
        ("virtual:/run/r.sock", .virtual("/run/r.sock")), ("virtual:r.sock", nil), ("virtual:", nil), ("usb:1", nil),
        ("", nil), ("PCSC:", nil),
    ]

    @Test("In a configuration and on the daemon's command line", arguments: names)
    func socket(text: String, address: ReaderAddress?) { #expect(ReaderAddress(text) == address) }

    @Test("A command that plays the reader itself takes the name of a card, and the rest as the daemon does")
    func card() {
        #expect(ReaderAddress("virtual:visa", virtual: .card) == .virtual("visa"))
        #expect(ReaderAddress("virtual:", virtual: .card) == nil && ReaderAddress("virtual", virtual: .card) == nil)
        for (text, address) in Self.names where !text.hasPrefix("virtual") {
            #expect(ReaderAddress(text, virtual: .card) == address, "\(text)")
        }
    }
}
