import ArgumentParser
import ReaderCore
import ReaderPCSC

struct Readers: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the readers that pcscd has.",
        discussion: """
            libnfc devices are not listed, because looking for them disturbs other devices: name one as \
            --reader libnfc:pn532_uart:/dev/ttyUSB0.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
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
            for entry in entries.map(Row.init) { StandardOutput.print("\(entry.name)\t\(entry.slot)") }
        }
    }

    private struct Row: Encodable {
        let name: String
        let model: String
        let slot: String

        init(_ entry: PCSCReaders.Entry) {
            name = entry.identity.name
            model = entry.identity.model
            slot = "\(entry.slot)"
        }
    }
}
