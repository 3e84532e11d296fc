// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Linux
import PaymentValues
import ReaderCore
import Synchronization

/// Commands that an administrator sends to one card, and what has come of them.
final class CardConversation: Sendable {
    /// What has come of them. The answers are the caller's alone.
    struct Outcome: Sendable {
        var answers: [SecretBytes] = []
        var hadCard = false
        /// Why the card did not answer all of them.
        var error: ReaderError?

        var code: ErrorCode? {
            switch error {
            case nil: nil
            // Nobody but a client that has gone and a daemon that stops cancels it.
            case .cancelled: .interrupted
            case .timedOut where hadCard: .readCardUnreadable
            case .some(let error): ErrorCode(error)
            }
        }
    }

    let commands: [CommandAPDU]
    /// Seconds for the card to be presented.
    let deadline: Int
    /// The lane is free again, and what has come of them is written down.
    let ended = OneShot()
    private let cancellation = TapCancellation()
    private let state = Mutex(Outcome())

    /// One command and its answer: longer than any card takes that answers at all.
    private static let commandMilliseconds: UInt64 = 5_000
    /// A reader that sees two cards is asked again after so long.
    private static let pauseMilliseconds: UInt64 = 100

    init(_ commands: [CommandAPDU], deadline: Int) {
        self.commands = commands
        self.deadline = deadline
    }

    /// How long all of it may take, the opening of a reader included.
    var longest: Duration {
        .seconds(deadline + Limits.cardCommandSeconds) + ArmedLanes.grace + LanePreparer.readerTime
    }

    var outcome: Outcome { state.withLock { $0 } }

    /// CLA, INS, P1 and P2 of each command: what may be written down of it.
    var headers: String {
        commands.map { Hex.string([$0.cla, $0.ins, $0.p1, $0.p2]) }.joined(separator: " ")
    }

    func cancel() { cancellation.cancel() }

    /// It has come to nothing more.
    func stop(_ error: ReaderError) { state.withLock { $0.error = error } }

    /// Waits for a card and sends it everything; on the reader's thread.
    func run(on reader: any CardReader) throws(ReaderError) {
        reader.show(.ready)
        try awaitCard(on: reader)
        state.withLock { $0.hadCard = true }
        reader.show(.processing)
        let end = monotonicNow().advanced(byMilliseconds: UInt64(Limits.cardCommandSeconds) * 1_000)
        for command in commands {
            guard !cancellation.isCancelled else { throw .cancelled }
            let now = monotonicNow()
            guard now < end else { throw .timedOut }
            let latest = now.advanced(byMilliseconds: CardConversation.commandMilliseconds)
            let response = try reader.transmit(command, until: min(end, latest))
            let answer = SecretBytes(capacity: response.data.count + 2) { writer in
                writer.append(contentsOf: response.data)
                writer.append(contentsOf: response.status.bytes)
            }
            state.withLock { $0.answers.append(answer) }
        }
    }

    private func awaitCard(on reader: any CardReader) throws(ReaderError) {
        let end = monotonicNow().advanced(byMilliseconds: UInt64(deadline) * 1_000)
        while true {
            switch try reader.activate(until: end, cancellation: cancellation) {
            case .card: return
            case .collision, .emptied, .unreadable: sleep(milliseconds: CardConversation.pauseMilliseconds)
            }
            guard monotonicNow() < end else { throw .timedOut }
        }
    }
}
