// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Configuration
import EMVCrypto
import Foundation
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("A payment from the request to the answer", .timeLimit(.minutes(5)))
struct PaymentTests {
    @Test("A card on the reader is read, sealed, authorised and reported", arguments: ["visa", "mastercard"])
    func approved(card: String) async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present \(card)")
            let answer = try await shop.post(purchase(1_250, order: "A-1"), wait: 20)
            #expect(answer.status == 201)
            let transaction = try answer.transaction()
            #expect(transaction.state == .approved, "\(answer.text)")
            #expect(transaction.result?.outcome == .approved && transaction.result?.mode == .test)
            #expect(transaction.history.map(\.state) == [.created, .armed, .reading, .sealed, .sent, .approved])
            #expect(transaction.card?.last4.count == 4)
            let ledger = await sandbox.ledger
            #expect(ledger.transactions.map(\.id) == [transaction.id])
            #expect(ledger.transactions.first?.cryptogram == "verified")
            #expect(ledger.unseen.isEmpty)
            #expect(try shop.journal("SELECT state, authorization IS NULL FROM payment") == "approved|1")
        }
    }

    @Test("A card whose kernel is not public is refused with the name of its scheme, in answer, event and receipt")
    func unsupportedKernel() async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present interac")
            let transaction = try await shop.post(purchase(1_250), wait: 20).transaction()
            #expect(transaction.state == .failed)
            #expect(transaction.error?.code == ErrorCode.readCardUnsupported.rawValue)
            let told = UnsupportedKernel(scheme: "Interac", aid: "A0000002771010", kernel: nil)
            #expect(transaction.error?.unsupportedKernel == told)
            let kept = try await shop.get("/v1/transactions/\(transaction.id)").transaction()
            #expect(kept.error?.unsupportedKernel == told)
            let event = kept.events?.first { $0.name == .readNotCompleted }
            #expect(event?.error?.unsupportedKernel == told)
            let receipt = try await shop.get("/v1/transactions/\(transaction.id)/receipt").text
            #expect(receipt.contains("Interac"))
            #expect(await sandbox.ledger.transactions.isEmpty)
        }
    }

    @Test("An account on the deny list is refused before the adapter hears of it, and nothing of the card is kept")
    func denied() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        let key = SecretBytes([UInt8](repeating: 7, count: DenyList.shortestKey))
        let open = try #require(DenyList(key: key, entries: []))
        let entry = open.entry(pan: "4761739001010010".utf8.map { $0 - 0x30 })
        wish.terminal.denied = DenyList(key: key, entries: [entry])
        try await withSandbox(in: folder) { [wish] sandbox in
            try await Shop.open(in: folder, wish) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(1_250), wait: 20).transaction()
                #expect(transaction.state == .declined && transaction.result?.reason == .notAcceptedHere)
                #expect(transaction.card == nil)
                #expect(await sandbox.ledger.transactions.isEmpty)
                let receipt = try await shop.get("/v1/transactions/\(transaction.id)/receipt").text
                #expect(receipt.contains("\"reason\":\"notAcceptedHere\""), "\(receipt)")
                // Whoever is not listed pays.
                try shop.reader.obey("swap mastercard")
                #expect(try await shop.post(purchase(1_250), wait: 20).transaction().state == .approved)
            }
        }
    }

    static let declines: [(Int64, DeclineReason?, RequiredAction?)] = [
        (1_251, .insufficientFunds, nil), (1_254, .expiredCard, nil), (1_205, .notAccepted, nil),
        (1_265, .otherInterfaceNeeded, .useOtherTerminal), (1_270, .otherInterfaceNeeded, .useOtherTerminal),
        (1_278, .otherInterfaceNeeded, .useOtherTerminal), (1_201, .referToIssuer, .callIssuer),
        (1_291, .issuerUnavailable, nil),
    ]

    @Test("A decline says why, and what the till can offer", arguments: declines)
    func declined(value: Int64, reason: DeclineReason?, action: RequiredAction?) async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let transaction = try await shop.post(purchase(value), wait: 20).transaction()
            #expect(transaction.state == .declined && transaction.result?.outcome == .declined)
            #expect(transaction.result?.reason == reason && transaction.result?.action == action)
            #expect(transaction.result?.next?.isEmpty == false)
        }
    }

    @Test("Half of the amount approved is said to be half")
    func partial() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let transaction = try await shop.post(purchase(1_210), wait: 20).transaction()
            #expect(transaction.state == .approved && transaction.result?.outcome == .partiallyApproved)
            #expect(transaction.result?.amountApproved?.value == 605)
        }
    }

    @Test("A refund and a verification reach the adapter as what they are")
    func otherTypes() async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let refund = try await shop.post(
                #"{"type":"refund","amount":{"value":500,"currency":"EUR"}}"#, wait: 20
            ).transaction()
            #expect(refund.state == .approved, "\(String(describing: refund.error))")
            let check = try await shop.post(#"{"type":"verification","currency":"EUR"}"#, wait: 20).transaction()
            #expect(check.state == .approved && check.amount.value == 0, "\(String(describing: check.error))")
            #expect(await sandbox.ledger.transactions.map(\.type) == [.refund, .verify])
        }
    }

    static let cards: [(card: String, state: TransactionState, code: String?)] = [
        ("visa-declines", .declined, nil), ("no-ppse", .failed, "read.card_unsupported"),
        ("empty-ppse", .failed, "read.card_unsupported"), ("malformed-record", .failed, "read.card_unreadable"),
        ("gpo-6984", .failed, "read.other_interface"),
    ]

    @Test("A card that cannot pay ends with its reason, and nothing reaches the adapter", arguments: cards)
    func unusable(card: String, state: TransactionState, code: String?) async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present \(card)")
            let transaction = try await shop.post(purchase(700, more: #","deadline":15"#), wait: 20).transaction()
            #expect(transaction.state == state && transaction.error?.code == code, "\(transaction)")
            #expect(await sandbox.ledger.transactions.isEmpty)
        }
    }

    @Test("A torn card is asked for again, may be cancelled in between, and pays at the second try")
    func torn() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present torn-record")
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(700), over: connection).transaction().id
            while shop.runner.events.kept(about: id).last?.name != .readRetry {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try await shop.runner.transaction(id)?.state == .armed)
            try shop.reader.obey("swap visa")
            let end = try await shop.reach([.approved, .failed], id)
            #expect(
                end.history.map(\.state) == [
                    .created, .armed, .reading, .armed, .reading, .sealed, .sent, .approved,
                ])
        }
    }

    @Test("No answer, event, log line or file of a shop's day holds a card number or a track")
    func noCardData() async throws {
        let folder = try TestFolder()
        var outside = Data()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, .hasty) { shop in
                for (card, value) in [("visa", 1_000), ("mastercard", 1_051), ("visa-declines", 900), ("visa", 1_098)] {
                    try shop.reader.obey("swap \(card)")
                    outside += try await shop.post(purchase(Int64(value)), wait: 20).text.utf8
                    for file in try filesOnDisk(in: folder.path + "/state") { outside += file.bytes }
                }
                for id in try shop.journal("SELECT id FROM payment").split(separator: "\n") {
                    outside += try await shop.get("/v1/transactions/\(id)").text.utf8
                }
            }
        }
        func isOutside(_ digits: String) -> Bool { outside.range(of: Data(digits.utf8)) != nil }
        for number in ["4761739001010010", "5413330089601034"] {
            #expect(!isOutside(number))
            #expect(!isOutside(number.map { "3\($0)" }.joined()))
            // Two digits a byte, beginning at a byte or in the middle of one.
            #expect(outside.range(of: Data(try Hex.bytes(number))) == nil)
            #expect(outside.range(of: Data(try Hex.bytes(String(number.dropFirst().dropLast())))) == nil)
        }
        #expect(isOutside("0010") && isOutside("1034"))
    }
}
