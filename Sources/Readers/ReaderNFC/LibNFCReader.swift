// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import ReaderCore

/// A reader that libnfc drives, in a worker process of its own: a card or a chip can bring libnfc down, but nothing else.
///
/// A worker that dies, hangs or talks nonsense is ended and shows as `.detached`; `reopen` starts another one.
public final class LibNFCReader: CardReader {
    /// The chip behind the connection string; stable until `reopen`.
    public private(set) var identity: ReaderIdentity
    /// How the last worker ended, for diagnosis; `nil` while none has.
    public private(set) var lastWorkerEnd: WorkerEnd?
    /// Sent after type A and before type B, while no card of type A answers: Apple's Enhanced Contactless Polling tells
    /// a phone by it which passes or cards are wanted. 20 bytes at most, more are cut off.
    public var broadcast: [UInt8] = []
    /// How long the owner should wait before `reopen`: 0 after the first loss, then doubling up to 30 s while the
    /// worker keeps dying; 0 again once a card was read.
    public var reopenDelayMilliseconds: UInt64 {
        losses <= 1 ? 0 : min(250 << UInt64(min(losses - 2, 7)), 30_000)
    }

    private let connectionString: String
    private let program: String
    private let graceMilliseconds: UInt64
    private var worker: WorkerConnection?
    private var losses = 0

    /// Starts the worker and opens the device.
    ///
    /// - Parameters:
    ///   - connection: as libnfc writes it: `pn532_uart:/dev/ttyUSB0`. Always given, because a scan disturbs other
    ///     devices.
    ///   - workerProgram: path of `nfc-tap-libnfc-worker`; see `WorkerProgram.find`.
    ///   - graceMilliseconds: how long after a deadline the worker may still answer before it counts as stuck.
    /// - Throws: `.detached` where the device is not there or does not answer, `.inUse`, or
    ///   `.serviceUnavailable(.workerMissing)`.
    public init(
        connection: String, workerProgram: String, graceMilliseconds: UInt64 = 5_000, until deadline: TapInstant
    ) throws(ReaderError) {
        connectionString = connection
        program = workerProgram
        self.graceMilliseconds = graceMilliseconds
        identity = ReaderIdentity(name: connection, model: "libnfc device", driver: .libnfc)
        try open(until: deadline)
    }

    /// Ends the worker, if one is left, and starts another. Call it after `.detached`, `reopenDelayMilliseconds` later.
    ///
    /// - Throws: as `init`.
    public func reopen(until deadline: TapInstant) throws(ReaderError) {
        close()
        try open(until: deadline)
    }

    /// The worker's process, for diagnosis; `nil` where none runs.
    public var workerProcessIdentifier: Int32? { worker?.processIdentifier }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        let answer = try ask(until: deadline, cancellation: cancellation) { [broadcast] in
            .poll(milliseconds: $0, broadcast: Array(broadcast.prefix(WorkerRequest.longestBroadcast)))
        }
        switch answer {
        case .card(let card): return .card(card)
        case .collision: return .collision
        case .emptied: return .emptied
        case .unreadable: return .unreadable
        case .failed(let failure, let code): throw error(failure, code)
        case .opened, .response, .present, .done: throw lose()
        }
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        let bytes = command.bytes
        switch try ask(until: deadline, { .transceive(command: bytes, milliseconds: $0) }) {
        case .response(let bytes):
            losses = 0
            do { return try ResponseAPDU(bytes) } catch { throw .cardLost }
        case .failed(let failure, let code): throw error(failure, code)
        case .opened, .card, .collision, .emptied, .unreadable, .present, .done: throw lose()
        }
    }

    /// Asks the card that is active whether it still is there.
    ///
    /// - Throws: what keeps the reader from working.
    public func isCardPresent(until deadline: TapInstant) throws(ReaderError) -> Bool {
        switch try ask(until: deadline, { _ in .checkPresence }) {
        case .present(let isPresent): return isPresent
        case .failed(let failure, let code): throw error(failure, code)
        case .opened, .card, .collision, .emptied, .unreadable, .response, .done: throw lose()
        }
    }

    public func check() throws(ReaderError) {
        _ = try isCardPresent(until: monotonicNow().advanced(byMilliseconds: 500))
    }

    public func release() {
        // A worker that cannot release is gone or will be ended by the next call, which then says so.
        _ = try? ask(until: monotonicNow()) { _ in .release }
    }

    public func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        let answer = try ask(until: deadline, cancellation: cancellation) { .awaitRemoval(milliseconds: $0) }
        switch answer {
        case .done: return
        case .failed(let failure, let code): throw error(failure, code)
        case .opened, .card, .collision, .emptied, .unreadable, .response, .present: throw lose()
        }
    }

    /// Nothing: bare PN53x boards have no LED and no buzzer.
    public func show(_ feedback: ReaderFeedback) {}

    public func close() {
        worker?.close()
        lastWorkerEnd = worker?.end ?? lastWorkerEnd
        worker = nil
    }

    private func open(until deadline: TapInstant) throws(ReaderError) {
        let worker = try WorkerConnection(program: program, graceMilliseconds: graceMilliseconds)
        self.worker = worker
        switch try ask(until: deadline, { [connectionString] _ in .open(connection: connectionString) }) {
        case .opened(let chip):
            // "PN532 v1.6": what it is, then its firmware.
            let words = chip.split(separator: " ", maxSplits: 1)
            identity.model = words.first.map(String.init) ?? "libnfc device"
            identity.firmware = words.count > 1 ? String(words[1].drop { $0 == "v" }) : nil
        case .failed(let failure, let code):
            let reason = error(failure, code)
            close()
            throw reason
        case .card, .collision, .emptied, .unreadable, .response, .present, .done:
            throw lose()
        }
    }

    deinit { close() }

    private func ask(
        until deadline: TapInstant, cancellation: TapCancellation? = nil, _ request: (UInt32) -> WorkerRequest
    ) throws(ReaderError) -> WorkerAnswer {
        guard let worker else { throw .detached }
        let left = deadline.nanoseconds(since: monotonicNow()) / 1_000_000
        do throws(ReaderError) {
            return try worker.ask(request(UInt32(clamping: left)), until: deadline, cancellation: cancellation)
        } catch {
            throw error == .detached ? lose() : error
        }
    }

    private func error(_ failure: WorkerFailure, _ code: Int32) -> ReaderError {
        switch failure {
        case .cardLost: .cardLost
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .detached: lose()
        case .inUse: .inUse
        case .accessDenied: .serviceUnavailable(.accessDenied)
        case .faulty: .faulty(code: Int64(code))
        }
    }

    private func lose() -> ReaderError {
        guard worker != nil else { return .detached }
        close()
        losses += 1
        return .detached
    }
}
