// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import TestSupport
import Testing

/// The same card gives the same result on each path: virtual reader, unmodified libnfc on a PN532, unmodified pcscd.
@Suite(.serialized)
struct ThreeReadersTests {
    @Test(arguments: ["visa", "visa-afl", "mastercard", "mastercard-nocda"])
    func `a card is paid with alike on the virtual reader, through libnfc and through pcscd`(name: String) throws {
        let virtual = try payOnVirtualReader(name)
        #expect(virtual["state"] as? String == "approved")
        #expect(try payThroughLibNFC(name) as NSDictionary == virtual as NSDictionary)
        if let missing = PrivatePCSCD.missing {
            // In CI the rig must be there; elsewhere say plainly that this path was not tried.
            #expect(ProcessInfo.processInfo.environment["CI"] == nil, "\(missing)")
            print("not tried through pcscd: \(missing)")
        } else {
            #expect(try payThroughPCSCD(name) as NSDictionary == virtual as NSDictionary)
        }
    }

    private func payOnVirtualReader(_ name: String) throws -> [String: Any] {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present \(name)")
        return try comparable(shop.pay("12.50 EUR"))
    }

    private func payThroughLibNFC(_ name: String) throws -> [String: Any] {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        let shop = try Shop(reader: "libnfc:\(emulator.connectionString)")
        try shop.awaitReader()
        emulator.insert(try #require(CardCatalogue.card(named: name)))
        return try comparable(shop.pay("12.50 EUR"))
    }

    private func payThroughPCSCD(_ name: String) throws -> [String: Any] {
        let rig = try PrivatePCSCD([.init(name: "ACS ACR122U PICC Interface")])
        defer { rig.stop() }
        let shop = try Shop(
            reader: "pcsc:ACS ACR122U PICC Interface 00 00", environment: ["PCSCLITE_CSOCK_NAME": rig.socketPath])
        try shop.awaitReader()
        let card = VPCDCard(port: 35_963, in: rig.network)
        defer { card.remove() }
        card.insert(try #require(CardCatalogue.card(named: name)))
        return try comparable(shop.pay("12.50 EUR"))
    }

    private func comparable(_ payment: Payment) throws -> [String: Any] {
        try #require(payment.status == 0, "exit code \(payment.status): \(payment.errors)")
        return payment.comparable
    }
}
