// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What somebody wants carried out together with others, and whom to tell what came of it.
struct SharedCalls: Sendable {
    let calls: [Call]
    let end: @Sendable (Result<[Rows], DatabaseError>) -> Void
}

/// Calls in the order in which they came, taken out by as many at a time as wait. Few threads do that at once, or nobody would wait
/// for anybody: each would find one.
final class SharedLine: Sendable {
    private struct State {
        var waiting: [SharedCalls] = []
        var threads = 0
    }

    /// Two, so that one who has to wait for a row does not keep all others waiting.
    private static let mostThreads = 2
    /// Of one transaction.
    private static let mostTogether = 32

    private let state = Mutex(State())
    private let most: Int
    private let queue: WorkLine

    init(most: Int, on queue: WorkLine) {
        self.most = most
        self.queue = queue
    }

    func add(_ calls: SharedCalls) {
        let (isTaken, needsThread) = state.withLock { state -> (Bool, Bool) in
            guard state.waiting.count < most else { return (false, false) }
            state.waiting.append(calls)
            guard state.threads < Self.mostThreads else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        guard isTaken else { return calls.end(.failure(.busy)) }
        guard needsThread, !queue.add({ self.work(on: $0) }) else { return }
        // Too much other work waits, or nobody takes any more.
        while let rest = next() { Self.end(rest, .busy) }
    }

    /// Other work is done between two transactions where it waits.
    private func work(on thread: DatabaseThread) {
        while let together = next() {
            carryOut(together, on: thread)
            if !queue.isEmpty, queue.add({ self.work(on: $0) }) { return }
        }
    }

    /// `nil` where nothing waits: then this thread takes part no more.
    private func next() -> [SharedCalls]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            defer { state.waiting.removeFirst(min(state.waiting.count, Self.mostTogether)) }
            return Array(state.waiting.prefix(Self.mostTogether))
        }
    }

    private func carryOut(_ together: [SharedCalls], on thread: DatabaseThread) {
        if together.count > 1 {
            let (calls, places) = Self.joined(together)
            do throws(DatabaseError) {
                let rows = try thread.attempt(times: 1) { (connection) throws(DatabaseError) in
                    try connection.pipeline(calls)
                }
                for (shared, places) in zip(together, places) { shared.end(.success(places.map { rows[$0] })) }
                return
            } catch {
                switch error {
                // Nothing of it is left: whoever it was is told below, and nobody else.
                case .duplicate, .again, .refused: break
                case .unknown, .unreachable, .busy: return Self.end(together, error)
                }
            }
        }
        for calls in together {
            do throws(DatabaseError) {
                calls.end(
                    .success(
                        try thread.attempt { (connection) throws(DatabaseError) in try connection.pipeline(calls.calls)
                        }))
            } catch {
                calls.end(.failure(error))
            }
        }
    }

    /// Statements for rows are one statement for the rows of all, behind everything else.
    ///
    /// - Returns: the calls, and where those of each are among them.
    private static func joined(_ together: [SharedCalls]) -> (calls: [Call], places: [[Int]]) {
        var calls = together.flatMap(\.calls).filter(\.rows.isEmpty)
        var single = 0
        var forRows: [String: Int] = [:]
        let places = together.map { shared in
            shared.calls.map { call -> Int in
                if call.rows.isEmpty {
                    defer { single += 1 }
                    return single
                }
                if let place = forRows[call.sql] {
                    calls[place].rows += call.rows
                    return place
                }
                forRows[call.sql] = calls.count
                calls.append(call)
                return calls.count - 1
            }
        }
        return (calls, places)
    }

    private static func end(_ together: [SharedCalls], _ error: DatabaseError) {
        for calls in together { calls.end(.failure(error)) }
    }
}
