// SPDX-License-Identifier: Apache-2.0
import AdapterCheck
import ArgumentParser
import Envelope
import Linux
import PaymentValues

struct AdapterCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapter-check", abstract: "Checks a payment adapter against its contract, with test cards.",
        discussion: """
            For authors of adapters: docs/integrating/adapters.md has the rules. Never run it against an adapter in live use: it \
            authorises, captures, refunds and reverses. Give --socket once for each replica. Exit codes: 0 every rule that \
            was tried holds, 1 a rule does not hold, 69 no adapter answers.
            """)

    @Option(help: ArgumentHelp("Unix socket of the adapter; once for each replica.", valueName: "path"))
    var socket: [String]

    @Option(
        help: ArgumentHelp(
            "An amount that the adapter approves, also ten times as much.",
            valueName: "amount currency"))
    var amount = "9.00 EUR"

    @Option(
        help: ArgumentHelp(
            "A shell command that kills the adapter, starts it again, and then ends.",
            valueName: "command"))
    var restart: String?

    @Flag(help: "Print one JSON object with all findings.")
    var json = false

    func validate() throws {
        guard !socket.isEmpty else { throw ValidationError("Give --socket PATH.") }
        _ = try money()
    }

    private func money() throws -> Money {
        let money: Money
        do throws(AmountText.Problem) { money = try AmountText.parse([amount]) } catch {
            throw ValidationError("\(error).")
        }
        guard (1...Limits.amount / 12).contains(money.value) else {
            throw ValidationError(
                "The amount must be above zero, and small enough that twelve times of it is an amount.")
        }
        return money
    }

    func run() async throws {
        var check = AdapterCheck(sockets: socket, amount: try money(), recipient: .sandboxTest)
        if let restart {
            check.restart = {
                do throws(SystemError) {
                    return try StartedProgram("/bin/sh", ["-c", restart], output: nil).waitUntilEnded()
                } catch {
                    return false
                }
            }
        }
        let findings = await check.run { finding in
            // What builds on a rule that does not hold is told once, at the end.
            if !json, !finding.buildsOnAnother { StandardOutput.print(Self.line(finding)) }
        }
        let failed = findings.filter { $0.verdict == .fail }
        let passed = findings.count { $0.verdict == .pass }
        if json {
            try StandardOutput.print(
                json: AdapterCheckMessage(sockets: socket, passed: passed, failed: failed.count, rules: findings))
        } else {
            let others = findings.count(where: \.buildsOnAnother)
            if others > 0 {
                StandardOutput.print("not tried      \(others) rules, for they build on what does not hold")
            }
            StandardOutput.print("\(passed) rules hold, \(failed.count) do not")
        }
        if failed.contains(where: { $0.rule == .health }) { throw ExitCode.unavailable }
        if !failed.isEmpty { throw ExitCode.failure }
    }

    private static func line(_ finding: CheckFinding) -> String {
        let verdict =
            switch finding.verdict {
            case .pass: "pass         "
            case .fail: "FAIL         "
            case .notSupported: "not supported"
            case .notTried: "not tried    "
            }
        var line = "\(verdict)  \(finding.rule.rawValue): \(finding.text)"
        if let note = finding.note { line += "\n               \(note)" }
        if finding.verdict == .fail { line += "\n               \(finding.clause)" }
        return line
    }
}

extension CheckFinding {
    /// Not tried, because a rule that it needs does not hold.
    fileprivate var buildsOnAnother: Bool { verdict == .notTried && note?.hasPrefix("it builds on") == true }
}

private struct AdapterCheckMessage: Encodable {
    let sockets: [String]
    let passed: Int
    let failed: Int
    let rules: [CheckFinding]
}
