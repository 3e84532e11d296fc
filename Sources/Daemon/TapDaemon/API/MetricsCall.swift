// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import Metrics
import POSAPI
import PaymentValues

extension PointOfSaleAPI {
    /// `GET /metrics`, for everybody who may see states.
    func metrics() async -> HTTPResponse {
        let families = runner.measures.families + (await now()) + ProcessUse.families
        var fields = HTTPFields()
        fields.set("Content-Type", Exposition.contentType)
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(Exposition.text(families).utf8)))
    }

    /// How things are at this moment.
    private func now() async -> [MetricFamily] {
        let statuses = await runner.laneStatuses()
        var lanes = MetricFamily("nfc_tap_lanes", .gauge, help: "Lanes by state.")
        for state in LaneStatus.State.allCases {
            lanes.add(Double(statuses.count { $0.state == state }), [("state", state.rawValue)])
        }
        let open = await runner.books.unfinishedReversals
        let oldest = open.map { Double(Timestamp.now.milliseconds - $0.milliseconds) / 1_000 }.max() ?? 0
        let journalFamilies = await journal.families()
        return [lanes, await unsettledDays()] + queued(await queue.outline()) + openItems(await queue.openItems())
            + journalFamilies + [
                gauge(
                    "nfc_tap_reversals_open", Double(open.count),
                    "Payments that the adapter has not confirmed as taken back."),
                gauge("nfc_tap_reversals_oldest_seconds", max(0, oldest), "Age of the oldest of them."),
                gauge("nfc_tap_adapter_up", health.state.state == .up ? 1 : 0, "Whether the payment adapter answers."),
                gauge(
                    "nfc_tap_clock_believed", clock.doubt == nil ? 1 : 0,
                    "Whether the machine's clock is believed; while not, nothing is erased and no live payment taken."),
                gauge("nfc_tap_event_streams", Double(events.subscriberCount), "Clients that listen to events."),
                gauge(
                    "nfc_tap_connections", Double(connections.count), "Connections to the socket for points of sale."),
            ]
    }

    /// What is not known has no value.
    private func unsettledDays() async -> MetricFamily {
        var days = MetricFamily(
            "nfc_tap_days_unsettled", .gauge,
            help: "Closed days that differ from the payment service's figures, or got none, up to a hundred.")
        let found = try? await runner.journal.use { (journal) throws(JournalError) in
            try journal.unsettledDays()?.count ?? 0
        }
        if let found { days.add(Double(found)) }
        return days
    }

    /// What is not known has no value: 0 would look like an empty queue.
    private func queued(_ outline: QueueOutline) -> [MetricFamily] {
        var stored = MetricFamily("nfc_tap_queue_stored", .gauge, help: "Stored payments that wait to be forwarded.")
        var oldest = MetricFamily("nfc_tap_queue_oldest_seconds", .gauge, help: "Age of the oldest of them.")
        if let extent = outline.extent {
            stored.add(Double(extent.count))
            let age = extent.oldest.map { Double(Timestamp.now.milliseconds - $0.milliseconds) / 1_000 }
            oldest.add(max(0, age ?? 0))
        }
        return [
            stored, oldest,
            gauge(
                "nfc_tap_queue_readable", outline.failure == nil ? 1 : 0,
                "1 if the journal gives the stored payments; if it is 0, nothing is forwarded."),
        ]
    }

    /// What is not known has no value, here too.
    private func openItems(_ extent: OpenItemExtent?) -> [MetricFamily] {
        var count = MetricFamily("nfc_tap_open_items", .gauge, help: "Payments that a person has to look after.")
        var oldest = MetricFamily("nfc_tap_open_items_oldest_seconds", .gauge, help: "Age of the oldest of them.")
        if let extent {
            count.add(Double(extent.count))
            let age = extent.oldest.map { Double(Timestamp.now.milliseconds - $0.milliseconds) / 1_000 }
            oldest.add(max(0, age ?? 0))
        }
        return [count, oldest]
    }

    private func gauge(_ name: String, _ value: Double, _ help: String) -> MetricFamily {
        var family = MetricFamily(name, .gauge, help: help)
        family.add(value)
        return family
    }
}
