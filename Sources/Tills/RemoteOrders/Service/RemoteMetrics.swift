// SPDX-License-Identifier: Apache-2.0
import Metrics
import PaymentValues

extension Remote {
    /// What the status file says in Prometheus' text format. The program opens no port that could be scraped.
    ///
    /// - Returns: `nil` where it cannot be read.
    public static func metrics(ofStatus bytes: [UInt8]) -> String? {
        guard let all = try? WireJSON.decode([BackendStatus].self, from: bytes) else { return nil }
        var up = MetricFamily(
            "nfc_tap_remote_backend_up", .gauge, help: "Whether the backend answers polls and the clocks agree.")
        var answer = MetricFamily(
            "nfc_tap_remote_answer_timestamp_seconds", .gauge, help: "When the backend answered a poll last.")
        var order = MetricFamily("nfc_tap_remote_order_timestamp_seconds", .gauge, help: "When an order came last.")
        var untold = MetricFamily(
            "nfc_tap_remote_untold", .gauge, help: "Results that the backend has not taken.")
        var since = MetricFamily(
            "nfc_tap_remote_untold_timestamp_seconds", .gauge, help: "When the oldest of their orders came.")
        var refused = MetricFamily(
            "nfc_tap_remote_orders_refused_total", .counter, help: "Orders that were refused, by code.")
        for backend in all {
            let name: MetricFamily.Labels = [("backend", backend.name)]
            let isUp = backend.trouble == nil && backend.lastAnswer != nil && backend.clockHolds
            up.add(isUp ? 1 : 0, name)
            if let time = backend.lastAnswer { answer.add(Double(time.milliseconds) / 1_000, name) }
            if let time = backend.lastOrder { order.add(Double(time.milliseconds) / 1_000, name) }
            untold.add(Double(backend.untold), name)
            if let time = backend.untoldSince { since.add(Double(time), name) }
            for (code, count) in backend.refused.sorted(by: { $0.key < $1.key }) {
                refused.add(Double(count), name + [("code", code)])
            }
        }
        return Exposition.text([up, answer, order, untold, since, refused])
    }
}
