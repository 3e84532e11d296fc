// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// An outcome that is no success names the step that it comes from.
@Suite("Steps of failures")
struct ProcessingStepTests {
    private func step(_ card: PlainCard, _ terminal: TerminalConfiguration, _ amount: UInt64 = 500) throws
        -> ProcessingStep?
    {
        try card.run(terminal, .test(amount)).outcome.outcome.endedAt
    }

    private static let unionPay = Kernel7Tests.terminal(0x2600_4000)
    /// A terminal that demands a cardholder verification of every amount.
    private static let verifying = Kernel7Tests.terminal(0x2000_4000, EntryPointLimits(cvmRequiredLimit: 1))

    @Test func `a success names none`() throws {
        #expect(try step(Kernel7Tests.card(), Self.unionPay) == nil)
    }

    @Test func `limits, selection and options are told apart`() throws {
        let terminal = Kernel7Tests.terminal(0x2600_4000, EntryPointLimits(transactionLimit: 100))
        #expect(try step(Kernel7Tests.card(), terminal) == .preProcessing)
        var card = Kernel7Tests.card()
        card.selection = []
        #expect(try step(card, Self.unionPay) == .applicationSelection)
        card = Kernel7Tests.card()
        card.options.removeAll { $0.tag == .aip }
        #expect(try step(card, Self.unionPay) == .processingOptions)
    }

    @Test func `what a record lacks is told apart from what the card lacks`() throws {
        var card = Kernel7Tests.signingCard()
        card.records = [:]
        #expect(try step(card, Self.unionPay) == .records)
        card = Kernel7Tests.card()
        card.options.removeAll { $0.tag == .track2Equivalent }
        #expect(try step(card, Self.unionPay) == .cardData)
    }

    @Test func `a decline names what declined`() throws {
        #expect(try step(Kernel7Tests.card(0x00), Self.unionPay) == .cryptogram)
        #expect(try step(Kernel7Tests.card(ctq: [0x00, 0x00]), Self.verifying) == .cardholderVerification)
        // Its signature is not verified by anybody here.
        #expect(try step(Kernel7Tests.signingCard(), Self.unionPay) == .offlineAuthentication)
        var card = Kernel7Tests.signingCard()
        card.records = card.records.mapValues { objects in
            objects.map { $0.tag == .expirationDate ? DataObject($0.tag, [0x20, 0x01, 0x31]) : $0 }
        }
        #expect(try step(card, Self.unionPay) == .restrictions)
    }

    @Test func `a kernel that is stopped or loses its card names what it waited for`() throws {
        var kernel = Kernel7()
        kernel.state = .readingRecords
        guard case .finished(let lost) = kernel.cardLost(now: TapInstant(nanoseconds: 0)).action else {
            Issue.record("the kernel goes on without a card")
            return
        }
        #expect(lost.endedAt == .records)
        kernel.state = .processingOptions
        #expect(kernel.stop(now: TapInstant(nanoseconds: 0)).endedAt == .processingOptions)
    }

    /// The step is for people: what the kernel reports to the terminal is the same with it and without it.
    @Test func `the step is in no parameter set and in no error indication`() {
        let outcome = Outcome(.declined, cvm: .noCVM)
        let named = outcome.ended(at: .cardholderVerification)
        #expect(named.endedAt == .cardholderVerification && outcome.endedAt == nil)
        #expect(named.parameterSet == outcome.parameterSet && named.error.bytes == outcome.error.bytes)
        #expect(named.ended(at: .records).endedAt == .cardholderVerification)
        #expect(Outcome(.approved).ended(at: .records).endedAt == nil)
        let doubtful = Outcome(.onlineRequest, error: ErrorIndication(l2: .camFailed))
        #expect(doubtful.ended(at: .offlineAuthentication).endedAt == .offlineAuthentication)
    }
}
