// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import EMV
import Explain
import Glibc
import ReaderCore
import TapSession
import TerminalFile

struct Read: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the data of a payment card; takes no payment.",
        discussion: """
            Reads directory, applications and records like any terminal, and never asks the card for an approval. Card \
            number, name and certificates are masked unless --unmasked is given. A card that computes its cryptogram early \
            (Visa) still counts a transaction.
            """)

    @OptionGroup var choice: ReaderChoice

    @OptionGroup var terminal: TerminalChoice

    @Flag(help: "Show everything, card number and name included. For test cards.")
    var unmasked = false

    @Flag(help: "List every data object.")
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let terminal = try terminal.open(for: .payment)
        let reader = try choice.open()
        defer { reader.close() }
        var inspection = CardInspection(
            terminal: terminal.configuration, data: Read.terminalData(now: time(nil)))
        let outcome: CardInspectionOutcome
        do throws(ReaderError) {
            outcome = try drive(
                &inspection, on: reader, deadlines: choice.deadlines, cancellation: TapCancellation(),
                onSignal: Progress.show)
            reader.release()
        } catch {
            reader.release()
            // A card that came and was lost is more to tell of than that the time is over.
            guard error == .timedOut, inspection.hasMetCard else { throw Failure(error) }
            outcome = inspection.stop(now: monotonicNow())
        }
        let report = CardReport(outcome, unmasked: unmasked)
        if json {
            try StandardOutput.print(json: CardReportMessage(report, all: all))
        } else {
            print(report)
        }
        guard outcome.end == .complete, report.hasRead else { throw Failure(report.end, exitCode: .notCompleted) }
    }

    private func print(_ report: CardReport) {
        for application in report.applications {
            let name = application.preferredName ?? application.label ?? "unnamed application"
            StandardOutput.print("\(name)  (AID \(application.aid))")
            let note = application.isKernelSecret ? "; its kernel is not public" : ""
            StandardOutput.print("  scheme       \(application.scheme ?? "not known")\(note)")
            StandardOutput.print("  card number  \(application.cardNumber ?? "not given")")
            StandardOutput.print("  expiry       \(application.expiry ?? "not given")")
            StandardOutput.print("  priority     \(application.priority == 0 ? "none" : "\(application.priority)")")
            StandardOutput.print("  reading      \(application.end)")
            guard all else { continue }
            for object in application.objects {
                let value = object.value ?? "(\(object.length) bytes hidden)"
                StandardOutput.print("  \(object.tag)  \(object.name ?? "unknown"): \(value)")
            }
        }
    }

    /// What the PDOL of a card may ask of this look: amount 0.01 EUR, in EMV mode where the terminal does not say.
    private static func terminalData(now: Int) -> [DataObject] {
        let date = LocalDate.at(now)
        return [
            DataObject(0x9F66, [0x36, 0x80, 0x40, 0x00]), DataObject(0x9F02, [0, 0, 0, 0, 0, 1]),
            DataObject(0x9F1A, [0x02, 0x76]), DataObject(0x5F2A, [0x09, 0x78]), DataObject(0x9A, date.yymmdd),
            DataObject(0x9F37, (0..<4).map { _ in UInt8.random(in: 0...255) }), DataObject(0x9C, [0x00]),
        ]
    }
}
