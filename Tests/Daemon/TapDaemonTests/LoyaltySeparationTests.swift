// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Codes
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Synchronization
import Testing

@testable import TapDaemon

/// What the daemon sends to cards while nothing but passes is wanted.
@Suite("Passes and payments are kept apart", .timeLimit(.minutes(10)))
struct LoyaltySeparationTests {
    /// The commands that cards got.
    private final class Commands: Sendable {
        private let kept = Mutex<[[UInt8]]>([])

        func note(_ command: [UInt8]) { kept.withLock { $0.append(command) } }

        func take() -> [[UInt8]] {
            kept.withLock {
                let taken = $0
                $0 = []
                return taken
            }
        }
    }

    /// A card whose commands are written down.
    private struct NotedCard: VirtualCard {
        var card: any VirtualCard
        let commands: Commands

        var activation: CardActivation { card.activation }

        mutating func powerOn() { card.powerOn() }

        mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
            commands.note(command)
            return card.answer(command)
        }
    }

    /// Wallets and the NDEF application: all that may be selected by name.
    private static let allowed: Set<String> = [
        Hex.string(Array("OSE.VAS.01".utf8)), "A000000476D0000111", "D2760000850101",
    ]
    /// Asked of a card whose fixed UID would become a member number, and of no phone (decision 150). No application has so short a name.
    private static let questions = Set([paymentDirectory] + PaymentNetwork.providersWithKernel.map { Hex.string($0) })
    private static let paymentDirectory = Hex.string(Array("2PAY.SYS.DDF01".utf8))

    private func names(_ commands: [[UInt8]]) -> [String] {
        commands.compactMap { bytes in
            guard let command = try? CommandAPDU(bytes), command.ins == 0xA4, command.p1 == 0x04 else { return nil }
            return Hex.string(command.data)
        }
    }

    @Test(
        "Acceptance test 8, requirement 33: no read of passes asks a phone for a payment, or uses a payment application"
    )
    func loyaltyOnly() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let commands = Commands()
            var selected: Set<String> = []
            for programmes in [nil, "club", "voucher", "member"] {
                let cards = programmes == nil ? CardCatalogue.names : ["apple-two-passes", "google-several", "visa"]
                for name in cards where name != "smoke" {
                    let card = try #require(CardCatalogue.card(named: name))
                    try shop.reader.present(NotedCard(card: card, commands: commands), named: name)
                    let wish = programmes.map { #","loyalty":{"programmes":["\#($0)"]}"# } ?? ""
                    let answer = try await shop.post(#"{"type":"loyalty","deadline":1\#(wish)}"#, wait: 20)
                    #expect(answer.status == 201, "\(name): \(answer.text)")
                    let sent = commands.take()
                    let mayBeMember = programmes == nil && card.activation.uid.count > 4
                    let allowed = mayBeMember ? Self.allowed.union(Self.questions) : Self.allowed
                    #expect(Set(names(sent)).isSubset(of: allowed), "\(name): \(names(sent))")
                    selected.formUnion(Set(names(sent)).subtracting(Self.questions))
                    #expect(!answer.text.lowercased().contains("pay"), "\(name): \(answer.text)")
                    try shop.reader.obey("remove")
                }
            }
            #expect(selected == Self.allowed, "whatever may be selected was")
        }
    }

    struct Case: Sendable {
        let name: String
        let card: String
        /// What the phone can pay with.
        var payment: String?
        let stop: Bool
        let state: TransactionState
        let hasPass: Bool
        let pays: Bool
    }

    /// The five rows, with either wallet where a phone is in them.
    static let rows = [
        Case(
            name: "stop, pass first: pass only", card: "apple-pass", payment: "visa", stop: true, state: .completed,
            hasPass: true, pays: false),
        Case(
            name: "stop, pass first: pass only", card: "google-pass", payment: "visa", stop: true, state: .completed,
            hasPass: true, pays: false),
        Case(
            name: "stop, card first: payment only", card: "visa", stop: true, state: .approved, hasPass: false,
            pays: true),
        Case(
            name: "no stop, both: both", card: "apple-pass", payment: "visa", stop: false, state: .approved,
            hasPass: true, pays: true),
        Case(
            name: "no stop, both: both", card: "google-pass", payment: "mastercard", stop: false, state: .approved,
            hasPass: true, pays: true),
        Case(
            name: "no stop, only a pass: pass only", card: "apple-pass", stop: false, state: .completed, hasPass: true,
            pays: true),
        Case(
            name: "no stop, only a pass: pass only", card: "google-pass", stop: false, state: .completed,
            hasPass: true, pays: true),
        Case(
            name: "no stop, plain card: payment only", card: "mastercard", stop: false, state: .approved,
            hasPass: false, pays: true),
    ]

    @Test("Acceptance test 6, requirement 32: the five cases of stopOnPass end as documented", arguments: rows)
    func stopOnPass(row: Case) async throws {
        try await Shop.withSandbox { shop, sandbox in
            let commands = Commands()
            let payment = row.payment.flatMap { CardCatalogue.card(named: $0) }
            let card = try #require(
                WalletCatalogue.card(named: row.card, payment: payment) ?? CardCatalogue.card(named: row.card))
            try shop.reader.present(NotedCard(card: card, commands: commands), named: row.card)
            let wish = #","loyalty":{"stopOnPass":\#(row.stop)}"#
            let found = try await shop.post(purchase(1_250, more: wish), wait: 20).transaction()
            #expect(found.state == row.state, "\(row.name)")
            let delivered = found.loyalty?.programmes.contains { $0.status == .delivered } ?? false
            #expect(delivered == row.hasPass, "\(row.name)")
            #expect((found.result?.outcome == .approved) == (row.state == .approved), "\(row.name)")
            #expect(await sandbox.ledger.transactions.count == (row.state == .approved ? 1 : 0))
            // The pass comes first, and a tap that ends with it never asks for a payment.
            let selected = names(commands.take())
            #expect(selected.contains(Self.paymentDirectory) == row.pays, "\(row.name): \(selected)")
            #expect(selected.first == Hex.string(Array("OSE.VAS.01".utf8)))
        }
    }
}
