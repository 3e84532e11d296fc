// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What somebody wants carried out together with others, and whom to tell what came of it.
struct SharedCalls: Sendable {
    let calls: [Call]
    let end: @Sendable (Result<[Rows], DatabaseError>) -> Void
}

/// Calls in the order in which they came, taken out by as many at a time as wait. One thread does that: of several each would find one.
final class SharedLine: Sendable {
    private struct State {
        var waiting: [SharedCalls] = []
        var hasThread = false
    }

    /// Of one transaction.
    private static let mostTogether = 32

    private let state = Mutex(State())
    private let most: Int
    private let queue: WorkLine

    init(most: Int, on queue: WorkLine) {
        self.most = most
        self.queue = queue
    }

    /// How many wait, and whether others are being carried out.
    var standing: (waiting: Int, isWorking: Bool) { state.withLock { ($0.waiting.count, $0.hasThread) } }

    func add(_ calls: SharedCalls) {
        let (isTaken, needsThread) = state.withLock { state -> (Bool, Bool) in
            guard state.waiting.count < most else { return (false, false) }
            state.waiting.append(calls)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
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

    /// `nil` where nothing waits: then the thread is given back.
    private func next() -> [SharedCalls]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.hasThread = false
                return nil
            }
            defer { state.waiting.removeFirst(min(state.waiting.count, Self.mostTogether)) }
            return Array(state.waiting.prefix(Self.mostTogether))
        }
    }

    private func carryOut(_ together: [SharedCalls], on thread: DatabaseThread) {
        let (calls, places) = Self.joined(together)
        do throws(DatabaseError) {
            let rows = try thread.attempt(times: 1) { (connection) throws(DatabaseError) in
                try connection.pipeline(calls)
            }
            for (shared, places) in zip(together, places) { shared.end(.success(places.map { rows[$0] })) }
        } catch {
            // Whether nothing of it is left, and it may be another one's fault.
            let maySucceedAlone =
                switch error {
                case .again: true
                case .duplicate, .refused: together.count > 1
                case .unknown, .unreachable, .busy: false
                }
            guard maySucceedAlone else { return Self.end(together, error) }
            for shared in together {
                let isTaken = queue.add { Self.carryOut(shared, on: $0) }
                if !isTaken { shared.end(.failure(.busy)) }
            }
        }
    }

    private static func carryOut(_ alone: SharedCalls, on thread: DatabaseThread) {
        do throws(DatabaseError) {
            alone.end(
                .success(
                    try thread.attempt { (connection) throws(DatabaseError) in try connection.pipeline(alone.calls) }))
        } catch {
            alone.end(.failure(error))
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
