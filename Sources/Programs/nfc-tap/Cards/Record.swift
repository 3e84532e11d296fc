// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import Codes
import EMV
import Explain
import Glibc
import ReaderCore
import TerminalFile

struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records a tap for replay, with test values instead of card number, tracks and name.",
        discussion: """
            Runs a payment with the card and sends it nowhere: no money moves, but the card counts a transaction. \
            Cryptograms, signatures and certificates become zeros, because only the issuer's keys can make them; the \
            header notes the result that they had. An answer that cannot be read is blanked as a whole; the header names \
            it. The real card number is written only with --keep, and only if it is a public test number.
            """)

    @Argument(help: ArgumentHelp("The transcript to write (.tap).", valueName: "file"))
    var file: String

    @OptionGroup var choice: ReaderChoice

    @OptionGroup var terminal: TerminalChoice

    @Option(help: ArgumentHelp("Amount in minor units.", valueName: "amount"))
    var amount: UInt64 = 100

    @Option(help: ArgumentHelp("Currency, ISO 4217 numeric.", valueName: "code"))
    var currency: UInt16 = 978

    @Option(help: ArgumentHelp("Country of the terminal, ISO 3166-1 numeric.", valueName: "code"))
    var country: UInt16 = 276

    @Flag(
        help: """
            Keep all data unchanged. Refused for a card number that is not a public test number; without any number that \
            can be read, the recording is made as without --keep.
            """)
    var keep = false

    @Flag(help: "Print the name and number of steps as JSON.")
    var json = false

    /// With --json.
    private struct Written: Encodable {
        let file: String
        let steps: Int
    }

    func validate() throws {
        guard amount <= UInt64(CurrencyCode.largestAmount) else {
            throw ValidationError("--amount takes at most 12 digits.")
        }
        guard CurrencyCode(numeric: UInt64(currency)) != nil else {
            throw ValidationError("--currency takes a number of ISO 4217, as 978 for EUR.")
        }
        guard CountryCode(numeric: UInt64(country)) != nil else {
            throw ValidationError("--country takes a number of ISO 3166-1, as 276 for Germany.")
        }
    }

    func run() throws {
        let terminal = try terminal.open(for: .payment)
        let reader = try choice.open()
        defer { reader.close() }
        let recorder = RecordingReader(reader, clock: monotonicNow)
        let numbers = (0..<8).map { _ in UInt32.random(in: .min ... .max) }
        let transaction = transaction(now: time(nil))
        let trace = TapTrace(
            on: recorder, configuration: terminal.configuration, transaction: transaction,
            unpredictableNumbers: .fixed(numbers), authentication: terminal.authentication,
            deadlines: choice.deadlines, onSignal: Progress.show)
        recorder.release()
        if let error = trace.interruption, !RecordingHeader.hasExchange(trace) { throw Failure(error) }
        let original = recorder.takeTranscript(
            header: RecordingHeader.fields(trace, numbers: numbers, reader: reader.identity))
        let transcript = try safe(original, trace, terminal)
        try OutputFile.create(file, transcript.text)
        if json { return try StandardOutput.print(json: Written(file: file, steps: transcript.steps.count)) }
        StandardError.write("nfc-tap: \(transcript.steps.count) steps written to \(file)\n")
    }

    private func transaction(now: Int) -> Transaction {
        let exponent = CurrencyCode(numeric: UInt64(currency))?.exponent ?? 2
        return Transaction(
            amount: amount, currency: currency, exponent: UInt8(clamping: exponent), country: country,
            date: LocalDate.at(now),
            time: LocalDate.time(at: now), sequenceCounter: 1)
    }

    private func safe(_ original: Transcript, _ trace: TapTrace, _ terminal: TerminalFile) throws -> Transcript {
        if keep {
            switch TranscriptSubstitution.card(in: original) {
            case .publicTest: return original
            case .other:
                throw Failure(
                    "the card number is not a public test number", hint: "record without --keep",
                    exitCode: .notAllowed)
            case .unknown:
                StandardError.write("nfc-tap: no card number could be read: recorded as without --keep\n")
            }
        }
        do throws(SubstitutionError) {
            var transcript = try TranscriptSubstitution(original).transcript
            if let result = RecordingHeader.authentication(trace) { transcript.header.append(result) }
            warnIfDifferent(transcript, terminal)
            return transcript
        } catch {
            throw Failure(error.description, hint: "nothing was written", exitCode: .notCompleted)
        }
    }

    /// The replacement may have changed what a kernel decides.
    private func warnIfDifferent(_ transcript: Transcript, _ terminal: TerminalFile) {
        let run = try? ReplayRun(
            transcript, configuration: terminal.configuration, authentication: terminal.authentication)
        if run?.isAsRecorded != true {
            StandardError.write("nfc-tap: with the test values, the replay differs from the tap\n")
        }
    }
}
