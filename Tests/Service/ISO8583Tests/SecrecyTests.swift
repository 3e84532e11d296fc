// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

struct SecrecyTests {
    private static let number = "4761739001010119"

    private static func everything(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return "\(value) " + String(reflecting: value) + text
    }

    @Test func `no description of a message shows card data`() throws {
        let row = try VectorTests.row("sale-0200-mc-1987-bcd")
        let packager = try Packager(.bcd1987)
        var message = try packager.parse(Hex.bytes(try #require(row.hex)))
        message.set(2, Self.number)
        message.set(35, Self.number + "D4912")
        message[52] = [0xDE, 0xAD, 0xBE, 0xEF, 0, 0, 0, 0]
        message.set(45, "B" + Self.number + "^NAME")
        // A host that copies the number to where it is not expected.
        message.set(90, String(repeating: "0", count: 13) + Self.number + String(repeating: "0", count: 13))
        message.set(48, Self.number)
        message.set(63, Self.number)
        let exchange = Exchange(
            id: ExchangeID("x"), order: 0, original: message,
            stage: .reversing(Repetition(message: message, attempts: 0, due: 0, isGivenUp: false)))
        let values: [Any] = [
            message, exchange, LinkEffect.send(message), LinkEffect.record(exchange), LinkInput.received(message),
            LinkInput.authorize(ExchangeID("x"), message), HostOutcome.approved(message),
            FrameReader.Frame.message(try packager.build(message.keeping([2, 35, 55])), nil),
        ]
        for value in values {
            let text = Self.everything(value)
            #expect(!text.contains(Self.number) && !text.contains("52, 55, 54, 49"))
            #expect(!text.contains("D4912") && !text.contains("222, 173") && !text.contains("^NAME"))
        }
        let text = "\(message)"
        #expect(text.hasPrefix("0200 2=…0119 3=000000 4=000000123456 "))
        #expect(text.contains("35=<21>") && text.contains("90=<42>") && text.contains("11=999999"))
    }

    @Test func `errors say places and counts, never values`() throws {
        let packager = try Packager(.ascii1987)
        var message = ISOMessage(try #require(MessageType(0100)))
        message.set(2, Self.number + "999999")
        let error = #expect(throws: MessageError.self) { try packager.build(message) }
        #expect(error == .length(field: 2, count: 22, most: 19))
        #expect(Self.everything(error as Any).contains("4761") == false)
    }

    @Test func `a payment with PIN data is not sent, and track and cryptogram are not in what is kept`() throws {
        var acquirer = try LinkRig()
        var message = try acquirer.payment()
        message[52] = [UInt8](repeating: 1, count: 8)
        #expect(
            acquirer.put(.authorize(ExchangeID("pin"), message)) == [.settled(ExchangeID("pin"), .notSent(.pinData))])
        let effects = acquirer.put(.authorize(ExchangeID("a"), try acquirer.payment()))
        guard case .record(let kept) = effects.first, case .send(let sent) = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(sent[35] != nil && sent[55] != nil)
        #expect(kept.original[35] == nil && kept.original[55] == nil && kept.original[2] != nil)
    }
}
