// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import ReaderModels
import ReaderNFC
import ReaderPCSC
import ReaderVirtual

/// Where a lane's reader comes from.
enum ReaderSource: Sendable {
    /// Part of the PC/SC name; empty for the first contactless reader that no other lane has.
    /// `earlier` lanes want one of that name, too.
    case pcsc(String, FeedbackLevel = .lightsAndSound, earlier: Int = 0)
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
        case .pcsc(let text, let feedback, let earlier):
            return try PCSCReaders.open(matching: text, after: earlier, feedback: feedback)
        case .libnfc(let connection):
            try ReaderSource.checkModel(behind: connection)
            guard let program = WorkerProgram.find() else { throw .serviceUnavailable(.workerMissing) }
            return try LibNFCReader(
                connection: connection, workerProgram: program,
                until: monotonicNow().advanced(byMilliseconds: 10_000))
        case .virtual(let control):
            return VirtualReader(control)
        }
    }

    /// A driver that loses what payment cards answer fails in the middle of a sale, and with some cards only: better
    /// before the first.
    static func checkModel(behind connection: String) throws(ReaderError) {
        guard let model = ReaderModels.model(connection: connection) else { return }
        if model.quirks.contains(.shortAnswersInLibNFC) { throw .serviceUnavailable(.unsuitableReader) }
    }
}
