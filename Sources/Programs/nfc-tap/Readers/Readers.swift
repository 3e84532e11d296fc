// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Doctor
import ReaderCore
import ReaderModels
import ReaderPCSC

struct Readers: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the readers of pcscd.",
        discussion: """
            Does not list libnfc devices, because searching for them disturbs other devices. Name one instead: --reader \
            libnfc:pn532_uart:/dev/ttyUSB0.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    /// For the doctor, which runs this as the daemon's user.
    @Flag(help: ArgumentHelp("Say in one word whether pcscd lets this user in.", visibility: .hidden))
    var access = false

    func run() throws {
        guard !access else { return StandardOutput.print(PCSCAnswer.ask().word) }
        let entries: [PCSCReaders.Entry]
        do throws(ReaderError) {
            entries = try PCSCReaders.list()
        } catch {
            throw Failure(error)
        }
        if json {
            try StandardOutput.print(json: entries.map(Row.init))
        } else if entries.isEmpty {
            StandardError.write("nfc-tap: pcscd has no reader\n")
        } else {
            for entry in entries.map(Row.init) {
                StandardOutput.print("\(entry.name)\t\(entry.slot)")
                // A slot for other cards has no place for a contactless card.
                guard entry.slot != "contact", entry.slot != "sam" else { continue }
                if entry.card { StandardOutput.print("    a card lies on it") }
                if let antenna = entry.antenna { StandardOutput.print("    hold the card to \(antenna)") }
                for remark in entry.remarks ?? [] { StandardOutput.print("    \(remark)") }
            }
        }
    }

    private struct Row: Encodable {
        let name: String
        let model: String
        let slot: String
        /// Whether a card lies there.
        let card: Bool
        /// For a known model: where to hold the card, and its peculiarities.
        let antenna: String?
        let remarks: [String]?

        init(_ entry: PCSCReaders.Entry) {
            name = entry.identity.name
            model = entry.identity.model
            slot = "\(entry.slot)"
            card = entry.hasCard
            let known = ReaderModels.model(named: entry.identity.name)
            antenna = known?.antenna
            remarks = known?.quirks.map(\.explanation).sorted()
        }
    }
}
