// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import ReaderNFC
import Rigs
import Testing

/// The real worker and the real libnfc on an emulated PN532.
final class Bench {
    let emulator: PN532Emulator
    let reader: LibNFCReader

    /// - Parameter link: a path that a later emulator can take over.
    init(_ cards: any VirtualCard..., link: String? = nil, grace: UInt64 = 2_000) throws {
        emulator = try PN532Emulator.start(link: link)
        for card in cards { emulator.insert(card) }
        reader = try Bench.open(emulator, grace: grace)
    }

    deinit {
        reader.close()
        emulator.unplug()
    }

    static func workerProgram() throws -> String {
        try #require(WorkerProgram.find(), "build nfc-tap-libnfc-worker, or set \(WorkerProgram.variable) to its path")
    }

    static func open(_ emulator: PN532Emulator, grace: UInt64 = 2_000) throws -> LibNFCReader {
        try LibNFCReader(
            connection: emulator.connectionString, workerProgram: workerProgram(), graceMilliseconds: grace,
            until: soon())
    }

    /// A deadline that a healthy rig never reaches.
    static func soon(_ milliseconds: UInt64 = 60_000) -> TapInstant {
        monotonicNow().advanced(byMilliseconds: milliseconds)
    }

    func activate(within milliseconds: UInt64 = 60_000) throws(ReaderError) -> CardPresence {
        try reader.activate(until: Bench.soon(milliseconds), cancellation: TapCancellation())
    }

    func transmit(_ command: CommandAPDU, within milliseconds: UInt64 = 60_000) throws(ReaderError) -> ResponseAPDU {
        try reader.transmit(command, until: Bench.soon(milliseconds))
    }

    /// Whether an echo of a few bytes comes back as it should.
    func echoes() throws -> Bool {
        try transmit(.echo([0xCA, 0xFE])) == ResponseAPDU(data: [0xCA, 0xFE], status: .success)
    }
}
