// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// One kernel alone: what it sends, shows and ends with.
struct KernelRun {
    var commands: [CommandAPDU] = []
    var signals: [UIRequest] = []
    var outcome = Outcome(.selectNext)

    var texts: [String] { commands.map { Hex.string($0.bytes) } }

    /// - Parameter answer: gets each command with its number; a loss instead of an answer is thrown.
    static func drive(
        _ kernel: inout some Kernel, _ activation: KernelActivation,
        terminal: (DataExchange) -> TerminalAnswer = { _ in .timedOut }, nanoseconds: UInt64 = 1_000_000,
        answer: (Int, CommandAPDU) throws -> Answer
    ) throws -> KernelRun {
        var run = KernelRun()
        var now = TapInstant(nanoseconds: 0)
        var step = kernel.start(activation, now: now)
        for _ in 0..<100 {
            run.signals += step.signals
            switch step.action {
            case .finished(let outcome):
                run.outcome = outcome
                return run
            case .askTerminal(let question):
                step = kernel.terminalAnswered(terminal(question), now: now)
            case .transmit(let command):
                run.commands.append(command)
                now = TapInstant(nanoseconds: now.nanoseconds(since: TapInstant(nanoseconds: 0)) + nanoseconds)
                switch try answer(run.commands.count - 1, command) {
                case .response(let response): step = kernel.received(response, now: now)
                case .lost(let loss): step = kernel.cardLost(loss, now: now)
                }
            }
        }
        throw Endless()
    }

    enum Answer {
        case response(ResponseAPDU)
        case lost(CardLoss)

        init(_ text: String) throws { self = .response(try ResponseAPDU(Hex.bytes(text))) }
    }

    struct Endless: Error {}

    /// Holds what a line says of an end against this one: status, start, error, messages, method, parts.
    func check(_ expected: String, _ id: String) throws {
        let statuses: [(String, Outcome.Status)] = [
            ("Online Request", .onlineRequest), ("not declined for the AAC: Online Request", .onlineRequest),
            ("Declined", .declined), ("End Application", .endApplication), ("Select Next", .selectNext),
            ("Try Another Interface", .tryAnotherInterface), ("Try Again", .tryAgain),
        ]
        var checks = 0
        for (text, status) in statuses where expected.hasPrefix(text) {
            #expect(outcome.status == status, "\(id)")
            checks += 1
        }
        if let match = expected.firstMatch(of: /L2 ([0-9A-F]{2})/) {
            #expect(Hex.string([outcome.error.l2.rawValue]) == match.1, "\(id)")
        }
        if let match = expected.firstMatch(of: /error ([0-9A-F]{6}) ([0-9A-F]{4}) ([0-9A-F]{2})/) {
            #expect(Hex.string(outcome.error.bytes) == match.1 + match.2 + match.3, "\(id)")
        }
        if let match = expected.firstMatch(of: /error ([0-9A-F]{6}) ([0-9A-F]{4}) UI/) { Issue.record("\(match.0)") }
        if let match = expected.firstMatch(of: /start ([ABCD])/) {
            let starts: [Substring: StartPoint] = ["A": .a, "B": .b, "C": .c, "D": .d]
            #expect(outcome.start == starts[match.1], "\(id)")
        }
        if expected.contains("start N/A") { #expect(outcome.start == nil, "\(id)") }
        if let match = expected.firstMatch(of: /UI (?:on outcome )?([0-9A-F]{2})(?:\/([0-9A-F]{2}))?/) {
            let shown = try #require(outcome.uiOnOutcome, "\(id)")
            #expect(Hex.string([shown.message.rawValue]) == match.1, "\(id)")
            if let status = match.2 { #expect(Hex.string([shown.status.rawValue]) == status, "\(id)") }
            if let hold = expected.firstMatch(of: /hold (DF812D|[0-9]+)/) {
                let units = hold.1 == "DF812D" ? 13 : try #require(UInt32(hold.1))
                #expect(shown.holdTime == units, "\(id)")
            }
        }
        if let match = expected.firstMatch(of: /UI on restart ([0-9A-F]{2})\/([0-9A-F]{2})/) {
            let shown = try #require(outcome.uiOnRestart, "\(id)")
            #expect(Hex.string([shown.message.rawValue]) == match.1, "\(id)")
            #expect(Hex.string([shown.status.rawValue]) == match.2, "\(id)")
            #expect(shown.holdTime == 0, "\(id)")
        }
        if expected.contains("no UI request") {
            #expect(outcome.uiOnOutcome == nil && outcome.uiOnRestart == nil, "\(id)")
        }
        if let match = expected.firstMatch(of: /MSG ([0-9A-F]{2})\/([0-9A-F]{2})/) {
            #expect(
                signals.contains { Hex.string([$0.message.rawValue, $0.status.rawValue]) == match.1 + match.2 }, "\(id)"
            )
        }
        if let match = expected.firstMatch(of: /DF8129 starts ([0-9A-F]{4})/) {
            #expect(Hex.string(outcome.parameterSet).hasPrefix(match.1), "\(id)")
        }
        let methods: [(String, Outcome.CVM)] = [
            ("CVM none", .noCVM), ("CVM online PIN", .onlinePIN), ("CVM signature", .obtainSignature),
            ("CVM confirmation code verified", .confirmationCodeVerified),
        ]
        for (text, method) in methods where expected.contains(text) { #expect(outcome.cvm == method, "\(id)") }
        if expected.contains("data record") { #expect(outcome.dataRecord != nil, "\(id)") }
        if expected.contains("message on error FF") { #expect(outcome.error.messageOnError == .none, "\(id)") }
        if expected.contains("message on error 21") {
            #expect(outcome.error.messageOnError == .presentCardAgain, "\(id)")
        }
        if expected.contains("discretionary data = error indication only") {
            #expect(outcome.discretionaryData?.map { $0.tag } == [0xDF8115], "\(id)")
        }
        #expect(checks > 0, "\(id) says no status that this check knows: \(expected)")
    }
}

/// The terminal of a script line: private objects are the kernel's configuration, the transaction's own become one, the
/// rest is terminal data.
struct ScriptTerminal {
    var objects: [CardBytes.Tag: [UInt8]] = [:]

    init(_ members: [String: Any]) throws {
        for (name, value) in members where value is String {
            let number = try #require(UInt32(name, radix: 16))
            let tag = CardBytes.Tag(number)
            if let text = value as? String { objects[tag] = try Hex.bytes(text) }
        }
    }

    private func digits(_ tag: CardBytes.Tag) -> UInt64 { objects[tag].flatMap { BCD.decode($0) } ?? 0 }

    var transaction: Transaction {
        Transaction(
            amount: digits(0x9F02), otherAmount: objects[0x9F03] == nil ? nil : digits(0x9F03),
            currency: UInt16(digits(0x5F2A)), exponent: 2, country: UInt16(digits(0x9F1A)),
            type: TransactionType(rawValue: objects[0x9C]?.first ?? 0),
            date: objects[0x9A].flatMap { EMVDate(yymmdd: $0) } ?? EMVDate(year: 2026, month: 6, day: 1),
            time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1)
    }

    func activation(
        _ kernel: KernelIdentifier, aid: [UInt8], selection: ResponseAPDU,
        authentication: OfflineAuthentication = .unavailable
    ) -> KernelActivation {
        var indicators = PreProcessingIndicators()
        indicators.ttq = objects[0x9F66].flatMap { TTQ($0) }
        let own: [CardBytes.Tag] = [0x9F02, 0x9F03, 0x5F2A, 0x9F1A, 0x9C, 0x9A, 0x9F37, 0x9F66]
        let data = objects.filter { !own.contains($0.key) }.map { DataObject($0.key, $0.value) }
        let number = objects[0x9F37]?.reduce(0) { $0 << 8 | UInt32($1) } ?? 0
        return KernelActivation(
            application: SelectedApplication(adfName: aid, matchingAID: aid, kernel: kernel), selection: selection,
            combination: Combination(
                aid: aid, kernel: kernel, kernelData: data.filter { $0.tag.byteCount == 3 }),
            indicators: indicators, terminalData: data.filter { $0.tag.byteCount < 3 }, transaction: transaction,
            unpredictableNumbers: .fixed([number]), authentication: authentication)
    }
}

/// A card of a script line: it knows its commands and no others.
struct ScriptCard {
    var exchanges: [(command: String, response: String)]

    init(_ line: [String: Any]) throws {
        exchanges = try #require(line["card"] as? [[String]], "\(line.id)").map { ($0[0], $0[1]) }
    }

    /// The answer to SELECT, which comes first.
    var selection: ResponseAPDU {
        get throws { try ResponseAPDU(Hex.bytes(exchanges[0].response)) }
    }

    func answer(_ command: CommandAPDU) -> String? {
        let text = Hex.string(command.bytes)
        return exchanges.first { $0.command == text }?.response
    }

    /// Puts objects into the value of a template: `head` are the answer's first bytes.
    mutating func append(_ objects: [UInt8], toAnswer index: Int) throws {
        let answer = try ResponseAPDU(Hex.bytes(exchanges[index].response))
        let template = try #require(TLV.nodes(answer.data).first)
        let content = Array(answer.data[template.value]) + objects
        exchanges[index].response = Hex.string([DataObject(template.tag, content)].encoded) + "9000"
    }
}
