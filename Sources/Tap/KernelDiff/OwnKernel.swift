// SPDX-License-Identifier: Apache-2.0
import CardBytes
package import EMV
import EMVCrypto
package import TerminalFile

/// One of this project's configurations: what it changes of a script's terminal.
package struct OwnKernel: Sendable {
    package let name: String
    /// Objects that take the place of the script's, in the combinations too; 9F66 stands for their qualifiers.
    package let changes: [DataObject]
    /// Whether the terminal has CA keys.
    package let hasKeys: Bool

    package init(name: String, changes: [DataObject] = [], hasKeys: Bool = true) {
        self.name = name
        self.changes = changes
        self.hasKeys = hasKeys
    }

    /// The script's terminal with the published test keys.
    package static let plain = OwnKernel(name: "nfc-tap")

    /// One line of JSON: `{"name": "no-keys", "keys": false, "set": {"9F35": "22"}}`.
    package init(line: [UInt8]) throws(TerminalFileError) {
        let file = try TerminalFileValue(file: line)
        try file.object(["name", "keys", "set"])
        name = try file.member("name").text()
        hasKeys = try file.optional("keys")?.flag() ?? true
        var changes: [DataObject] = []
        for member in try file.optional("set")?.members() ?? [] {
            guard let tag = TerminalFile.tag(member.name) else { throw .unknown(member.value.path) }
            changes.append(DataObject(tag, try member.value.hexadecimal(0...252)))
        }
        self.changes = changes
    }

    /// Most commands of one script.
    private static let mostSteps = 200

    package func trace(_ script: CardScript) -> KernelTrace {
        var run = Run(rules: script.rules)
        var machine = EntryPoint(
            configuration: configuration(for: script), transaction: script.transaction,
            unpredictableNumbers: .fixed(script.unpredictableNumbers),
            authentication: hasKeys ? .using(.test) : .unavailable)
        var step = machine.start(now: run.now)
        for _ in 0..<OwnKernel.mostSteps {
            for request in step.signals {
                run.lines.append(
                    "M \(Hex.string([request.message.rawValue])) \(Hex.string([request.status.rawValue])) \(request.holdTime)"
                )
            }
            switch step.action {
            case .finished(let final):
                guard final.outcome.status == .endApplication, final.wantsRestart, run.activations < 2 else {
                    return KernelTrace(lines: run.lines + OwnKernel.lines(final.outcome))
                }
                step = machine.start(now: run.now)
            case .activate:
                run.activations += 1
                guard run.activations <= 2 else {
                    return KernelTrace(lines: run.lines + OwnKernel.lines(machine.stop(now: run.now).outcome))
                }
                step = machine.activated(CardActivation(), now: run.now)
            case .transmit(let command):
                switch run.answer(command.bytes) {
                case .response(let response): step = machine.received(response, now: run.now)
                case .lost(let loss): step = machine.cardLost(loss, now: run.now)
                }
            }
        }
        return KernelTrace(lines: run.lines + ["E more than \(OwnKernel.mostSteps) steps"])
    }

    private func configuration(for script: CardScript) -> TerminalConfiguration {
        let test = TerminalConfiguration.test
        let own = script.terminal.filter { object in !changes.contains { $0.tag == object.tag } } + changes
        var terminal = TerminalConfiguration(
            terminalData: test.terminalData.filter { object in !own.contains { $0.tag == object.tag } } + own,
            combinations: script.combinations ?? test.combinations)
        for index in terminal.combinations.indices {
            terminal.combinations[index].kernelData.removeAll { object in own.contains { $0.tag == object.tag } }
            if let ttq = own.value(of: 0x9F66).flatMap({ TTQ($0) }) { terminal.combinations[index].limits.ttq = ttq }
        }
        return terminal
    }

    /// The card's side of one run.
    private struct Run {
        let rules: [CardScript.Rule]
        var used: [Int]
        var lines: [String] = []
        var now = TapInstant(nanoseconds: 0)
        var activations = 0

        init(rules: [CardScript.Rule]) {
            self.rules = rules
            used = rules.map { _ in 0 }
        }

        mutating func answer(_ command: [UInt8]) -> CardScript.Rule.Answer {
            lines.append("C \(Hex.string(command))")
            for (index, rule) in rules.enumerated() where rule.pattern.matches(command) {
                if let times = rule.times, used[index] >= times { continue }
                used[index] += 1
                now = now.advanced(byMilliseconds: rule.afterMilliseconds)
                if case .response(let response) = rule.answer { lines.append("R \(Hex.string(response.bytes))") }
                return rule.answer
            }
            lines.append("R 6A82")
            return .response(ResponseAPDU(status: 0x6A82))
        }
    }

    /// The lines of an outcome.
    package static func lines(_ outcome: Outcome) -> [String] {
        func objects(_ letter: String, _ list: [DataObject]) -> [String] {
            [([letter] + list.map { "\($0.tag)=\(Hex.string($0.value))" }.sorted()).joined(separator: " ")]
        }
        func message(_ request: UIRequest?) -> String { request.map { Hex.string($0.bytes) } ?? "-" }
        let record = outcome.dataRecord ?? []
        func value(_ tag: Tag) -> String { record.value(of: tag).map { Hex.string($0) } ?? "-" }
        var lines = [
            "O \(Hex.string(outcome.parameterSet)) \(Hex.string(outcome.error.bytes)) \(message(outcome.uiOnOutcome)) "
                + message(outcome.uiOnRestart)
        ]
        if outcome.dataRecord != nil { lines += objects("D", record) }
        if let data = outcome.discretionaryData { lines += objects("X", data) }
        return lines + ["T \(value(0x95)) \(value(0x9F34))"]
    }
}
