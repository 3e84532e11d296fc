// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Envelope
import Glibc
import Journal
import Linux

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Verifies or exports the audit chain of the daemon.",
        subcommands: [AuditVerify.self, AuditExport.self])
}

/// Which chain a command reads: that of a journal, also of a running daemon, or an export.
struct AuditChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Journal or export; default: /var/lib/nfc-tap/journal.sqlite, then the journal of a daemon started by this user.",
            valueName: "file"))
    var file: String?

    @Option(
        help: ArgumentHelp(
            "Public key of the installation, kept apart from the file; default: installation.jwk beside the journal, or the key in the export.",
            valueName: "file"))
    var key: String?

    /// The lines of the chain: first the installation, then statements, then entries; `nil` for a line that cannot be read.
    func forEachLine(_ body: (AuditLine?) throws -> Void) throws {
        let path = file ?? AuditChoice.found
        // Where it is kept apart it is for root alone.
        let own = try key.map { try InputFile.text(at: $0) }
        let beginning = try InputFile.beginning(of: path)
        if beginning.starts(with: "SQLite format 3".utf8) {
            try actAsOwner(of: path)
            try journalLines(path, own, body)
        } else {
            try exportedLines(path, own, body)
        }
    }

    /// SQLite writes beside the file that it reads: as root it would do so wherever the folder's owner has laid links to.
    private func actAsOwner(of path: String) throws {
        let folder = AuditChoice.folder(of: path)
        do throws(SystemError) { try ProcessOwner.becomeOwner(of: folder.isEmpty ? "." : folder) } catch {
            throw Failure(
                "\(path) belongs to another user, and this process cannot become it: \(error)",
                hint: "run the command as that user", exitCode: .notAllowed)
        }
    }

    private static func folder(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "" }
        return String(path[...end])
    }

    /// States of transactions that the chain and the other tables of a journal tell differently.
    func differences() throws -> [String] {
        let path = file ?? AuditChoice.found
        guard try InputFile.beginning(of: path).starts(with: "SQLite format 3".utf8) else { return [] }
        try actAsOwner(of: path)
        do throws(JournalError) { return try AuditSource(file: path).differences() } catch {
            throw Failure(error, path)
        }
    }

    private func journalLines(_ path: String, _ own: String?, _ body: (AuditLine?) throws -> Void) throws {
        let jwk = try own ?? InputFile.text(at: AuditChoice.folder(of: path) + "installation.jwk")
        var failure: (any Error)?
        do throws(JournalError) {
            let source = try AuditSource(file: path)
            func pass(_ line: AuditLine?) {
                guard failure == nil else { return }
                do { try body(line) } catch { failure = error }
            }
            pass(.installation(name: source.installation, jwk: jwk))
            for statement in source.statements { pass(.statement(statement)) }
            try source.forEachLink { pass($0.map(AuditLine.link)) }
        } catch {
            throw Failure(error, path)
        }
        if let failure { throw failure }
    }

    private func exportedLines(_ path: String, _ own: String?, _ body: (AuditLine?) throws -> Void) throws {
        try InputFile.forEachLine(of: path) { text in
            var line = AuditLine(text)
            if let own, case .installation(let name, _) = line { line = .installation(name: name, jwk: own) }
            try body(line)
        }
    }

    private static var found: String {
        let installed = "/var/lib/nfc-tap/journal.sqlite"
        guard !FileSystem.exists(installed) else { return installed }
        if let state = variable("XDG_STATE_HOME") { return state + "/nfc-tap/journal.sqlite" }
        return (variable("HOME") ?? "") + "/.local/state/nfc-tap/journal.sqlite"
    }

    private static func variable(_ name: String) -> String? {
        Environment.value(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}

struct AuditVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies that nothing in the chain was altered, moved, removed or truncated.",
        discussion: """
            Changes nothing, and also reads the journal of a running daemon. Exit codes: 0 the chain holds, 1 it does not, \
            65 no chain, 69 no such file, 77 not allowed. A truncation after the last signed head cannot be detected: the \
            daemon signs a head every minute and when it stops, and writes its number to the log.
            """)

    @OptionGroup var chain: AuditChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        var verifier: AuditVerifier?
        var number = 0
        var keyID = ""
        try chain.forEachLine { line in
            number += 1
            switch line {
            case .installation(_, let jwk):
                let key = try InputFile.verificationKey(jwk)
                keyID = key.keyID
                if verifier == nil { verifier = AuditVerifier(key: key) }
            case .statement(let token): verifier?.take(statement: token)
            case .link(let link): verifier?.take(link)
            case nil: verifier?.takeUnreadable(number: number)
            }
            guard verifier != nil else { throw Failure("this file holds no audit chain", exitCode: .malformedInput) }
        }
        guard var verifier else { throw Failure("this file holds no audit chain", exitCode: .malformedInput) }
        for id in try chain.differences() { verifier.takeDifference(transaction: id) }
        let report = AuditReport(&verifier, keyID: keyID)
        if json { try StandardOutput.print(json: report) } else { report.print() }
        if !report.holds { throw ExitCode.failure }
    }
}

/// The result of a verification.
private struct AuditReport: Encodable {
    let holds: Bool
    let entries: Int
    let first: Int64?
    let last: Int64?
    let signedUpTo: Int64?
    /// `kid` of the key that it was held against.
    let key: String
    let faults: [String]
    /// What a chain that holds does not prove.
    let notCovered = AuditSource.uncovered

    init(_ verifier: inout AuditVerifier, keyID: String) {
        faults = verifier.finish().map(\.description)
        holds = faults.isEmpty
        entries = verifier.entries
        (first, last, signedUpTo) = (verifier.first, verifier.last, verifier.signedUpTo)
        key = keyID
    }

    func print() {
        let range = first.flatMap { first in last.map { " (\(first) to \($0))" } } ?? ""
        let signed = signedUpTo.map { "signed up to \($0)" } ?? "not signed"
        StandardOutput.print("\(entries) entries\(range), \(signed) by \(key)")
        for fault in faults { StandardOutput.print("fault: \(fault)") }
        StandardOutput.print(holds ? "the chain holds" : "the chain does not hold")
        for sentence in notCovered { StandardOutput.print("not covered: \(sentence)") }
    }
}

struct AuditExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports the chain, one JSON object on each line, for nfc-tap audit verify elsewhere.")

    @OptionGroup var chain: AuditChoice

    @Flag(help: "Accepted for consistency; output is always JSON.")
    var json = false

    func run() throws {
        try chain.forEachLine { line in
            guard let line else {
                throw Failure(
                    "the chain has a damaged entry", hint: "run nfc-tap audit verify", exitCode: .malformedInput)
            }
            StandardOutput.print(line.text)
        }
    }
}

extension Failure {
    fileprivate init(_ error: JournalError, _ path: String) {
        self.init("\(path): \(error)", hint: "run the command as root, or as the daemon's user", exitCode: .unavailable)
    }
}
