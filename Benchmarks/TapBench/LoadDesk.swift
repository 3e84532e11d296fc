// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues

/// One listener for all lanes: hands each its transaction's end, and notes how old events are when they come.
actor LoadDesk {
    private(set) var approved: Set<String> = []
    /// Nanoseconds from an event's time stamp to its receipt.
    private(set) var deliveries: [Double] = []
    private var ended: [String: Bool] = [:]
    private var waiting: [String: CheckedContinuation<Bool, Never>] = [:]
    private var failure: String?

    func forgetTimes() { deliveries = [] }

    func listen(to stream: EventStream) async {
        do {
            for try await event in stream {
                let now = Date().timeIntervalSince1970
                guard let message = try? WireJSON.decode(Event.self, from: Array(event.data.utf8)) else { continue }
                deliveries.append(max(0, now * 1e9 - Double(message.at.milliseconds) * 1e6))
                take(message)
            }
            fail("the stream of events ended")
        } catch {
            fail("the stream of events: \(error)")
        }
    }

    private func take(_ event: Event) {
        guard let id = event.transaction?.text else { return }
        switch event.name {
        case .paymentApproved: end(id, true)
        case .paymentDeclined, .readNotCompleted, .readCancelled, .paymentUnknown: end(id, false)
        case _: break
        }
    }

    private func end(_ id: String, _ isApproved: Bool) {
        if isApproved { approved.insert(id) }
        if let waiter = waiting.removeValue(forKey: id) {
            waiter.resume(returning: isApproved)
        } else {
            ended[id] = isApproved
        }
    }

    private func fail(_ reason: String) {
        failure = reason
        for waiter in waiting.values { waiter.resume(returning: false) }
        waiting = [:]
    }

    /// Returns when the sale is approved.
    func settled(_ id: String) async throws {
        let isApproved: Bool
        if let known = ended.removeValue(forKey: id) {
            isApproved = known
        } else if failure != nil {
            isApproved = false
        } else {
            isApproved = await withCheckedContinuation { waiting[id] = $0 }
        }
        guard isApproved else { throw BenchmarkError.wrongResult(failure ?? "a sale was not approved") }
    }
}
