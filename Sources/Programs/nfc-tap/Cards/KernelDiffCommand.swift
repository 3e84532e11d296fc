// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import Explain
import KernelDiff
import Linux
import ReaderCore
import TerminalFile

struct KernelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kernel-diff",
        abstract: "Taps one scripted card on several kernels and shows what they do differently.",
        discussion: """
            The first kernel is this program's own. It is compared with its other configurations, with programs given by \
            --kernel, and with every program in the folder that NFC_TAP_KERNELS names. docs/internals/kernel-diff.md has the forms \
            of scripts and traces. Ends with exit code 1 if there is a difference that --known does not list.
            """)

    @Argument(help: ArgumentHelp("Scripts, one JSON object a line; - reads standard input.", valueName: "file"))
    var scripts: String?

    @Option(help: ArgumentHelp("A recorded tap (.tap), whose card is played like a script.", valueName: "file"))
    var from: [String] = []

    @Flag(help: "Print the scripts that --from makes, one a line, and compare nothing.")
    var script = false

    @Option(help: ArgumentHelp("Further configurations of this program's kernels, one a line.", valueName: "file"))
    var configurations: String?

    @Option(help: ArgumentHelp("A program that prints a trace of the script it reads.", valueName: "path"))
    var kernel: [String] = []

    @Option(help: ArgumentHelp("A table of differences that are known.", valueName: "file"))
    var known: String?

    @Flag(help: "Print this program's own traces only; with it, this program is a kernel for another one.")
    var trace = false

    @Flag(help: "Print each difference as a line of JSON.")
    var json = false

    func validate() throws {
        guard scripts != nil || !from.isEmpty else {
            throw ValidationError("Give a file of scripts, or --from with a .tap file.")
        }
        guard !script || !from.isEmpty else { throw ValidationError("--script needs --from.") }
    }

    func run() throws {
        let recorded = try from.map { file in (place: file, bytes: Array(try recordedScript(file).utf8)) }
        if script {
            for line in recorded { StandardOutput.print(String(decoding: line.bytes, as: UTF8.self)) }
            return
        }
        let scripts = try ((scripts.map { try lines(of: $0) } ?? []) + recorded).map {
            try parsed($0) { line throws(TerminalFileError) in try CardScript(line: line) }
        }
        if trace {
            for script in scripts {
                for line in OwnKernel.plain.trace(script).lines { StandardOutput.print(line) }
            }
            return
        }
        let kernels = try kernels()
        guard !kernels.isEmpty else {
            throw Failure(
                "nothing to compare with", hint: "give --configurations or --kernel, or set NFC_TAP_KERNELS",
                exitCode: .validationFailure)
        }
        let known = try knownDifferences()
        var differing = 0
        var new = 0
        for script in scripts {
            let first = OwnKernel.plain.trace(script)
            for kernel in kernels {
                let found = TraceDifference.all(
                    first, kernel.trace(script), kernel: kernel.name, script: script, known: known)
                guard !found.isEmpty else { continue }
                differing += 1
                new += found.count(where: \.isNew)
                if !json { StandardOutput.print("\(script.id), \(kernel.name):") }
                for difference in found {
                    if json {
                        try StandardOutput.print(line: Message(script.id, kernel.name, difference))
                    } else {
                        for line in difference.lines(OwnKernel.plain.name, kernel.name) { StandardOutput.print(line) }
                    }
                }
            }
        }
        if json {
            try StandardOutput.print(line: Sum(scripts: scripts.count, kernels: kernels.count, new: new))
        } else {
            StandardOutput.print(
                "\(scripts.count) scripts, \(kernels.count) kernels beside \(OwnKernel.plain.name): \(differing) pairs differ, \(new) new differences"
            )
        }
        guard new == 0 else { throw Failure("there are new differences", exitCode: .failure) }
    }

    /// A recorded tap as a script, with its file's name.
    private func recordedScript(_ file: String) throws -> String {
        let transcript = try InputFile.transcript(file)
        let header: TranscriptHeader
        do throws(TranscriptHeaderError) { header = try TranscriptHeader(transcript) } catch {
            throw Failure("\(file): \(error)", hint: "see docs/internals/transcripts.md", exitCode: .malformedInput)
        }
        let exchanges = transcript.steps.compactMap { step -> (command: [UInt8], answer: CardScript.Rule.Answer)? in
            guard case .exchanged(let command, let answer) = step else { return nil }
            return switch answer {
            case .response(let response): (command.bytes, .response(response))
            case .cardLost, .timedOut, .detached: (command.bytes, .lost(.timeOut))
            }
        }
        return RecordedScript.line(
            id: file.split(separator: "/").last.map(String.init) ?? file, header.transaction,
            unpredictableNumbers: header.unpredictableNumbers, exchanges)
    }

    /// Everything that the first kernel is compared with.
    private func kernels() throws -> [(name: String, trace: (CardScript) -> KernelTrace)] {
        var kernels: [(name: String, trace: (CardScript) -> KernelTrace)] = []
        if let configurations {
            for line in try lines(of: configurations) {
                let own = try parsed(line) { line throws(TerminalFileError) in try OwnKernel(line: line) }
                kernels.append((own.name, { own.trace($0) }))
            }
        }
        var paths = kernel
        if let folder = Environment.value("NFC_TAP_KERNELS") {
            guard let names = FileSystem.entries(folder) else {
                throw Failure(
                    "cannot read \(folder)", hint: "set NFC_TAP_KERNELS to a folder", exitCode: .malformedInput)
            }
            paths += names.sorted().map { "\(folder)/\($0)" }.filter { FileSystem.isExecutable($0) }
        }
        for path in paths {
            guard FileSystem.isExecutable(path) else {
                throw Failure("cannot run \(path)", hint: "make it executable", exitCode: .malformedInput)
            }
            let outside = OutsideKernel(path: path)
            kernels.append((outside.name, { outside.trace($0) }))
        }
        return kernels
    }

    private func knownDifferences() throws -> KnownDifferences {
        guard let known else { return .none }
        var line = 0
        guard let table = KnownDifferences(table: try InputFile.text(at: known), line: &line) else {
            throw Failure(
                "\(known), line \(line): not four columns",
                hint: "write kernel, script, field and reason with tabs between",
                exitCode: .malformedInput)
        }
        return table
    }

    private func lines(of file: String) throws -> [(place: String, bytes: [UInt8])] {
        try InputFile.bytes(file).split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            .filter { !$0.element.isEmpty }.map { ("\(file), line \($0.offset + 1)", Array($0.element)) }
    }

    private func parsed<Value>(
        _ line: (place: String, bytes: [UInt8]), _ parse: ([UInt8]) throws(TerminalFileError) -> Value
    ) throws -> Value {
        do throws(TerminalFileError) { return try parse(line.bytes) } catch {
            throw Failure(
                "\(line.place), \(error)", hint: "see docs/internals/kernel-diff.md", exitCode: .malformedInput)
        }
    }
}

extension KernelDiffCommand {
    /// One difference, with `--json`.
    private struct Message: Encodable {
        let script, kernel, field: String
        let first, other: String?
        /// Why it is known; missing for a new one.
        let reason: String?

        init(_ script: String, _ kernel: String, _ difference: TraceDifference) {
            self.script = script
            self.kernel = kernel
            field = difference.field
            first = difference.shown(difference.first)
            other = difference.shown(difference.other)
            reason = if case .known(let reason) = difference.verdict { reason } else { nil }
        }
    }

    /// The last line with `--json`.
    private struct Sum: Encodable {
        let scripts, kernels, new: Int
    }
}
