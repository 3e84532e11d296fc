import CardBytes
import ReaderCore
import ReaderModels
import ReaderNFC
import ReaderPCSC
import ReaderVirtual

/// Where a lane's reader comes from.
enum ReaderSource: Sendable {
    /// Part of the PC/SC name; empty for the first contactless reader.
    case pcsc(String, FeedbackLevel = .lightsAndSound)
    /// libnfc's connection string.
    case libnfc(String)
    /// Obeys text commands.
    case virtual(VirtualReaderControl)

    var isVirtual: Bool {
        switch self {
        case .virtual: true
        case .pcsc, .libnfc: false
        }
    }

    /// Opens the reader; on its own thread.
    func open() throws(ReaderError) -> any CardReader {
        switch self {
        case .pcsc(let text, let feedback):
            let matching = PCSCReaders.contactless(in: try PCSCReaders.list(), matching: text)
            guard let found = matching.first else { throw .serviceUnavailable(.unknownReader) }
            return try PCSCReader(name: found.identity.name, feedback: feedback)
        case .libnfc(let connection):
            guard let program = WorkerProgram.find() else { throw .serviceUnavailable(.workerMissing) }
            return try LibNFCReader(
                connection: connection, workerProgram: program,
                until: monotonicNow().advanced(byMilliseconds: 10_000))
        case .virtual(let control):
            return VirtualReader(control)
        }
    }
}
