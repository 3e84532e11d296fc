// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

/// What has to hold for every card in software, whatever is asked of it.
@Suite("Records of the whole catalogue")
struct ReadPropertyTests {
    private enum Case: CaseIterable {
        case sale, saleOffline, saleBesideContact, refund
    }

    private func bench(_ name: String, _ wanted: Case) throws -> TapBench {
        let bench = try TapBench(milliseconds: 1_000)
        bench.tap.unpredictableNumbers = .fixed([0x0102_0304])
        switch wanted {
        case .sale: break
        case .saleOffline:
            for index in bench.tap.configuration.combinations.indices {
                bench.tap.configuration.combinations[index].limits.floorLimit = 10_000
            }
            bench.tap.configuration.terminalData = bench.tap.configuration.terminalData.map {
                $0.tag == 0x9F35 ? DataObject(0x9F35, [0x22]) : $0
            }
        case .saleBesideContact:
            // Kernel 2 sends a card that declines to the contact chip, and leaves a record all the same (C-2 S910.74).
            for index in bench.tap.configuration.combinations.indices {
                bench.tap.configuration.combinations[index].kernelData.removeAll { $0.tag == 0xDF8117 }
                bench.tap.configuration.combinations[index].kernelData.append(DataObject(0xDF8117, [0x20]))
            }
        case .refund: bench.tap.transaction.type = .refund
        }
        try bench.present(name)
        return bench
    }

    /// What Entry Point gives for the same card, nothing sealed; `nil` where the card was waited for in vain.
    private func outcome(_ name: String, _ wanted: Case) throws -> Outcome? {
        let bench = try bench(name, wanted)
        var machine = EntryPoint(
            configuration: bench.tap.configuration, transaction: bench.tap.transaction,
            unpredictableNumbers: bench.tap.unpredictableNumbers, authentication: bench.tap.authentication)
        do throws(ReaderError) {
            while true {
                let final = try drive(
                    &machine, on: bench.reader, deadlines: bench.tap.deadlines, cancellation: bench.cancellation,
                    pause: { _ in }, onSignal: { _ in })
                guard final.outcome.status == .endApplication, final.wantsRestart,
                    monotonicNow() < bench.tap.deadlines.card
                else { return final.outcome }
            }
        } catch {
            return nil
        }
    }

    /// Cards that never stop asking for another presentation, each of which costs the field's pause, are one card in
    /// all of this: `a phone whose holder never comes …`.
    private static let names = CardCatalogue.names.filter { $0 != "see-phone-forever" }

    /// Every record that is in no envelope, and the name of that loss.
    private static let losses: [String: String] = [
        "mastercard-declines saleBesideContact": "notConcluded"
    ]

    @Test(arguments: names)
    func `every record that a kernel leaves is sealed, or its loss has a name`(name: String) throws {
        for wanted in Case.allCases {
            var loss: String?
            defer { #expect(loss == Self.losses["\(name) \(wanted)"], "\(wanted)") }
            let expected = try outcome(name, wanted)
            let bench = try bench(name, wanted)
            do {
                let result = try #require(try bench.run())
                if expected?.dataRecord != nil {
                    #expect((result.read == nil) != (result.unsealed == nil), "\(wanted)")
                } else {
                    #expect(result.read == nil && result.unsealed == nil, "\(wanted)")
                }
                loss = result.unsealed?.rawValue
                // A host that is asked gets a record.
                if result.status == .onlineRequest || result.status == .approved {
                    #expect(result.read != nil, "\(wanted)")
                }
            } catch let error as PaymentTapError {
                // The error is the name.
                switch error {
                case .missingHostData, .incompleteRecord:
                    #expect(expected?.dataRecord != nil, "\(wanted)")
                    loss = "\(error)"
                case .reader: break
                case .recipient, .sealing: Issue.record("\(wanted): \(error)")
                }
                #expect(bench.result == nil)
            }
        }
    }

    /// An AAC is a card's usual answer to a refund (C-2 S910.74; C-3 3.4.1.2, note; kernel 8 as kernel 2).
    @Test(arguments: [
        ("mastercard-declines", Outcome.Status.endApplication), ("c8-declines", .endApplication),
        ("visa-declines", .onlineRequest),
    ])
    func `a refund that the card answers is sealed, also where the answer is an AAC`(
        name: String, status: Outcome.Status
    ) throws {
        let bench = try bench(name, .refund)
        let result = try #require(try bench.run())
        #expect(result.status == status)
        let read = try #require(result.read)
        #expect(result.unsealed == nil)
        // Kernel 3's record has the type in 9F10 alone (byte 5, bits 6 and 5).
        let data = try #require(read.clearTags.value(of: 0x9F10))
        if name == "visa-declines" { #expect(data[4] & 0x30 == 0x00) }
        if name != "visa-declines" { #expect(read.clearTags.value(of: 0x9F27) == [0x00]) }
        #expect(read.clearTags.value(of: 0x9C) == [0x20])
        #expect(bench.reader.notes.contains("show read"))
        #expect(try bench.plaintext().contains(#""pan":""#))
        // The same answer to a sale is none.
        let sale = try self.bench(name, .sale)
        #expect(try sale.run()?.status == .declined)
        #expect(sale.result?.status == .declined)
    }

    @Test func `an account on the deny list is a loss with that name`() throws {
        let key = SecretBytes([UInt8](repeating: 7, count: 32))
        let open = try #require(DenyList(key: key, entries: []))
        let bench = try bench("visa", .sale)
        bench.tap.denied = DenyList(
            key: key, entries: [open.entry(pan: "4761739001010010".utf8.map { $0 - 0x30 })]
        )
        let result = try #require(try bench.run())
        #expect(result.unsealed == .accountDenied)
        #expect(result.read == nil && result.status == .declined)
    }
}
