import Synchronization

/// Something that happens once, for any number of tasks to wait for.
final class Occasion: Sendable {
    private struct State {
        var hasHappened = false
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextKey: UInt64 = 0
    }

    private let state = Mutex(State())

    var hasHappened: Bool { state.withLock { $0.hasHappened } }

    func happen() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.hasHappened = true
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when it has happened, or at once when the task is cancelled.
    func wait() async {
        let key = state.withLock { state in
            state.nextKey &+= 1
            return state.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.hasHappened || Task.isCancelled { return true }
                    state.waiting[key] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: key) }?.resume()
        }
    }

    /// Returns when it has happened, or `limit` has passed.
    func wait(atMost limit: Duration) async {
        await withTaskGroup { group in
            group.addTask { await self.wait() }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
