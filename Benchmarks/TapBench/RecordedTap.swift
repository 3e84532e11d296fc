// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto

/// One transaction with a test card, taken down once, so that it can be run again without the card's own time: the
/// same terminal with the same unpredictable number sends the same commands.
struct RecordedTap: Sendable {
    let configuration: TerminalConfiguration
    let transaction: Transaction
    var authentication: OfflineAuthentication
    private(set) var commands: [CommandAPDU] = []
    private(set) var answers: [ResponseAPDU] = []
    let activation: CardActivation

    static let unpredictableNumber: UInt32 = 0x6A09_E667

    /// - Throws: `.wrongResult` where the transaction did not end as `expected`.
    init(
        card name: String, configuration: TerminalConfiguration = .test, amount: UInt64 = 1_250,
        expected: Outcome.Status
    ) throws {
        guard var card = CardCatalogue.card(named: name) else { throw BenchmarkError.missing("no card \(name)") }
        self.configuration = configuration
        activation = card.activation
        // Each issuer's certificate is recovered anew, as for the first card of an issuer.
        authentication = .using(.test.remembering(issuers: 0))
        transaction = Transaction(
            amount: amount, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 1, day: 15),
            time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1)
        card.powerOn()
        var machine = machine
        var step = machine.start(now: RecordedTap.now)
        while true {
            switch step.action {
            case .finished(let final):
                guard final.outcome.status == expected else {
                    throw BenchmarkError.wrongResult("\(name) ended with \(final.outcome.status)")
                }
                return
            case .activate: step = machine.activated(activation, now: RecordedTap.now)
            case .transmit(let command):
                guard case .answer(let bytes) = card.answer(command.bytes) else {
                    throw BenchmarkError.wrongResult("\(name) gave no answer")
                }
                let answer = try ResponseAPDU(bytes)
                commands.append(command)
                answers.append(answer)
                step = machine.received(answer, now: RecordedTap.now)
            }
        }
    }

    private static let now = TapInstant(nanoseconds: 0)

    private var machine: EntryPoint {
        EntryPoint(
            configuration: configuration, transaction: transaction,
            unpredictableNumbers: .fixed([RecordedTap.unpredictableNumber]), authentication: authentication)
    }

    /// The same with a list of CA keys that knows the issuer's certificate from the tap before.
    func rememberingIssuers() -> RecordedTap {
        var tap = self
        tap.authentication = .using(.test.remembering(issuers: 4))
        return tap
    }

    /// The whole transaction, from a new machine to its outcome.
    ///
    /// - Returns: the number of objects in the data record; 0 for an outcome that the card's answers do not lead to.
    func run() -> Int { outcome()?.outcome.dataRecord?.count ?? 0 }

    /// As `run`; `nil` for an outcome that the card's answers do not lead to.
    func outcome() -> FinalOutcome? {
        var machine = machine
        var step = machine.start(now: RecordedTap.now)
        var next = 0
        while true {
            switch step.action {
            case .finished(let final): return next == answers.count ? final : nil
            case .activate: step = machine.activated(activation, now: RecordedTap.now)
            case .transmit:
                guard next < answers.count else { return nil }
                step = machine.received(answers[next], now: RecordedTap.now)
                next += 1
            }
        }
    }

    /// Entry Point alone: pre-processing, directory, candidate list, final selection, up to the activated kernel's
    /// first command.
    func runEntryPoint() -> Int {
        var machine = machine
        _ = machine.start(now: RecordedTap.now)
        _ = machine.activated(activation, now: RecordedTap.now)
        _ = machine.received(answers[0], now: RecordedTap.now)
        guard case .transmit(let command) = machine.received(answers[1], now: RecordedTap.now).action else { return 0 }
        return Int(command.ins)
    }

    /// The first value of a tag among the card's answers.
    func value(_ tag: Tag) -> [UInt8]? {
        for answer in answers {
            guard let nodes = try? TLV.nodes(answer.data), let node = nodes.first(where: { $0.tag == tag }) else {
                continue
            }
            return Array(answer.data[node.value])
        }
        return nil
    }
}

extension RecordedTap {
    static func visaOnline() throws -> RecordedTap { try RecordedTap(card: "visa", expected: .onlineRequest) }

    /// The reader may approve offline below its floor limit.
    static func visaOffline() throws -> RecordedTap {
        var configuration = TerminalConfiguration.test
        for index in configuration.combinations.indices where configuration.combinations[index].kernel == .visa {
            configuration.combinations[index].limits.floorLimit = 5_000
        }
        return try RecordedTap(card: "visa-afl", configuration: configuration, expected: .approved)
    }

    static func mastercard() throws -> RecordedTap { try RecordedTap(card: "mastercard", expected: .onlineRequest) }
}
