// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import CardSim
import Configuration
import ReaderCore
import ReaderNFC
import ReaderPCSC
import ReaderVirtual

/// Which reader a command without the daemon uses.
struct ReaderChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The reader: pcsc (the first contactless one), pcsc:PART OF ITS NAME, libnfc:CONNECTION STRING or virtual:CARD.",
            valueName: "reader"))
    var reader = "pcsc"

    @Option(help: ArgumentHelp("Seconds to wait for a card.", valueName: "seconds"))
    var timeout: UInt64 = 30

    var deadlines: TapDeadlines { TapDeadlines(card: monotonicNow().advanced(byMilliseconds: timeout * 1_000)) }

    func validate() throws {
        guard (1...3_600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    }

    func open() throws -> any CardReader {
        guard let address = ReaderAddress(reader, virtual: .card) else {
            throw ValidationError("--reader \(reader): give pcsc, pcsc:NAME, libnfc:CONNECTION or virtual:CARD.")
        }
        if case .virtual(let card) = address { return try openVirtual(card) }
        do throws(ReaderError) {
            switch address {
            case .pcsc(let name): return try PCSCReaders.open(matching: name)
            case .libnfc(let connection): return try openLibNFC(connection)
            case .virtual: throw .serviceUnavailable(.unknownReader)
            }
        } catch {
            throw Failure(error)
        }
    }

    private func openLibNFC(_ connection: String) throws(ReaderError) -> any CardReader {
        guard let worker = WorkerProgram.find() else { throw .serviceUnavailable(.workerMissing) }
        return try LibNFCReader(
            connection: connection, workerProgram: worker, until: monotonicNow().advanced(byMilliseconds: 5_000))
    }

    private func openVirtual(_ card: String) throws -> any CardReader {
        let control = try VirtualReaderControl(cardNames: CardCatalogue.names) { CardCatalogue.card(named: $0) }
        do throws(VirtualCommandError) {
            try control.obey("present \(card)")
        } catch {
            throw Failure(
                error.description, hint: "choose a card from nfc-tap simulate --list", exitCode: .malformedInput)
        }
        return VirtualReader(control)
    }
}
