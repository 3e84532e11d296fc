// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Doctor
import PaymentValues
import TapClient

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Finds problems of readers and the daemon, and names the remedy for each.",
        discussion: """
            Checks kernel drivers, device files, pcscd, polkit, programs that hold a reader, the clock, and the daemon \
            with its configuration, keys, adapter and limits. Changes nothing without --fix. Sees more as root. Ends with \
            exit code 1 if it finds an error.
            """)

    @Flag(help: "Apply the harmless remedies, and name them.")
    var fix = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var machine: MachineChoice

    func run() async throws {
        let facts = machine.facts
        // Whoever may not ask, or gets no answer, is told so by another check.
        let status = machine.root == "/" ? try? await TapClient(path: facts.posSocket).status() : nil
        let findings = Checkup(facts, status: status).findings
        let results = findings.map { Result($0, wasApplied: fix ? apply($0) : nil) }
        if json {
            try StandardOutput.print(json: Report(findings: results))
        } else {
            results.forEach(DoctorCommand.print)
            if results.isEmpty { StandardOutput.print("no problems found") }
        }
        if results.contains(where: { $0.isOpenError }) { throw ExitCode.failure }
    }

    /// - Returns: `nil` if the finding has no fix.
    private func apply(_ finding: Finding) -> Bool? {
        finding.fix.map { $0.apply(to: machine.tree) { ProgramRun($0).succeeded } }
    }

    private static func print(_ result: Result) {
        StandardOutput.print("\(result.severity): \(result.problem)")
        switch result.fixed {
        case true: StandardOutput.print("    done: \(result.fix ?? result.remedy)")
        case false: StandardOutput.print("    failed: \(result.fix ?? result.remedy)")
        case nil: StandardOutput.print("    remedy: \(result.remedy)")
        }
    }

    private struct Report: Encodable {
        let findings: [Result]
    }

    private struct Result: Encodable {
        let subject: String
        let severity: String
        let problem: String
        let remedy: String
        /// What --fix does; absent if it does nothing.
        let fix: String?
        /// Whether --fix worked; absent if it was not tried.
        let fixed: Bool?
        var isOpenError: Bool { severity == Finding.Severity.error.rawValue && fixed != true }

        init(_ finding: Finding, wasApplied: Bool?) {
            subject = finding.subject.rawValue
            severity = finding.severity.rawValue
            problem = finding.problem
            remedy = finding.remedy
            fix = finding.fix?.description
            fixed = wasApplied
        }
    }
}
