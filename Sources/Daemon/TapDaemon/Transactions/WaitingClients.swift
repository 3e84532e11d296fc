// SPDX-License-Identifier: Apache-2.0
import Dispatch
import PaymentValues
import Transactions

/// Clients that wait for what becomes of their wish: each is answered once, or told that it took too long.
struct WaitingClients: Sendable {
    private var waiting: [RequestID: CheckedContinuation<RequestAnswer?, Never>] = [:]
    private var last: UInt64 = 0
    /// Nothing is carried out any more, so that nothing would ever answer.
    private var isClosed = false

    mutating func number() -> RequestID {
        last &+= 1
        return RequestID(last)
    }

    mutating func wait(_ wish: RequestID, _ continuation: CheckedContinuation<RequestAnswer?, Never>) {
        guard !isClosed else { return continuation.resume(returning: nil) }
        waiting[wish] = continuation
    }

    /// Answers everybody who waits, and whoever comes from now on.
    mutating func close() {
        isClosed = true
        for continuation in waiting.values { continuation.resume(returning: nil) }
        waiting = [:]
    }

    /// - Parameter answer: `nil` where there is none in time.
    mutating func answer(_ wish: RequestID, _ answer: RequestAnswer?) {
        waiting.removeValue(forKey: wish)?.resume(returning: answer)
    }

    /// How long a wish waits for what is being written down, before the client is told that it is too late.
    static let patience: Duration = .seconds(5)

    static func after(_ patience: Duration, _ work: @escaping @Sendable () async -> Void) {
        let milliseconds = Int(patience.components.seconds) * 1_000
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { Task { await work() } }
    }
}
