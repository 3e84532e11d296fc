// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Transactions
import Wire

/// Clients that wait for what becomes of their wish: each is answered once, or told that it took too long.
struct WishDesk: Sendable {
    private var waiting: [WishID: CheckedContinuation<WishAnswer?, Never>] = [:]
    private var last: UInt64 = 0

    mutating func number() -> WishID {
        last &+= 1
        return WishID(last)
    }

    mutating func wait(_ wish: WishID, _ continuation: CheckedContinuation<WishAnswer?, Never>) {
        waiting[wish] = continuation
    }

    /// - Parameter answer: `nil` where there is none in time.
    mutating func answer(_ wish: WishID, _ answer: WishAnswer?) {
        waiting.removeValue(forKey: wish)?.resume(returning: answer)
    }
}

extension TransactionRunner {
    /// How long a wish waits for what is being written down, before the client is told that it is too late.
    static let patience: Duration = .seconds(5)

    /// Lets a client's wish happen to a transaction, and waits for its answer.
    ///
    /// - Returns: `nil` where there is none in time.
    func wish(
        _ id: TransactionID, patience: Duration? = TransactionRunner.patience, _ input: (WishID) -> Input
    ) async -> WishAnswer? {
        guard live[id] != nil else { return .superseded }
        let wish = wishes.number()
        let input = input(wish)
        return await withCheckedContinuation { continuation in
            wishes.wait(wish, continuation)
            take(input, id)
            if let patience { giveUp(wish, after: patience) }
        }
    }

    private func giveUp(_ wish: WishID, after patience: Duration) {
        let milliseconds = Int(patience.components.seconds) * 1_000
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            Task { await self.answer(wish, nil) }
        }
    }

    func answer(_ wish: WishID, _ answer: WishAnswer?) { wishes.answer(wish, answer) }
}
