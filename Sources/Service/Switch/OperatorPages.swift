// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import Metrics
import PostgreSQL

/// What operators read: metrics in Prometheus' text format, and one page without scripts. Nothing is changed here, and no card stands in it.
struct OperatorPages: Sendable {
    let store: SwitchStore
    let measures: SwitchMeasures
    let lease: Lease
    let memory: StoreMemory
    /// `nil` where no acquirer is configured.
    let acquirer: Acquirer?

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard request.method == .get else { return plain(405, "Only GET is answered here.\n") }
        do throws(DatabaseError) {
            switch request.path {
            case ["metrics"]: return plain(200, Exposition.text(try await metrics()), Exposition.contentType)
            case []: return plain(200, try await page(), "text/html; charset=utf-8")
            default: return plain(404, "There are / and /metrics.\n")
            }
        } catch {
            return plain(503, "The database does not answer.\n")
        }
    }

    private func plain(
        _ status: Int, _ text: String, _ type: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        var fields: HTTPFields = ["Content-Type": type, "Cache-Control": "no-store"]
        fields.set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        return HTTPResponse(status: status, fields: fields, body: .bytes(Array(text.utf8)))
    }

    // MARK: - Metrics

    private static let gauges: [(column: String, name: String, help: String)] = [
        ("running", "running_payments", "Payments that nobody has decided yet."),
        ("running_age", "running_oldest_seconds", "Age of the oldest payment that nobody has decided yet."),
        ("reversals", "open_reversals", "Payments that have to be taken back and are not yet."),
        ("reversal_age", "open_reversal_oldest_seconds", "Age of the oldest of them."),
        (
            "given_up", "given_up_messages",
            "Messages that the acquirer never answered, or whose answers contradict each other: a person has to look at them."
        ),
        ("stored", "stored_messages", "Captures and offline payments that the acquirer has not acknowledged yet."),
        ("stored_age", "stored_oldest_seconds", "Age of the oldest of them."),
        ("untold", "untold_days", "Ends of days that the acquirer has said nothing of for ten minutes."),
        ("unsaid", "unsaid_days", "Ends of the last seven days that the acquirer took without comparing them."),
        ("unbalanced", "unbalanced_days", "Ends of the last seven days that the acquirer counts otherwise."),
    ]

    private func metrics() async throws(DatabaseError) -> [MetricFamily] {
        var families = measures.families
        var link = MetricFamily("nfc_tap_switch_link_up", .gauge, help: "Whether the acquirer is signed on to.")
        link.add(await acquirer?.isSignedOn == true ? 1 : 0)
        families.append(link)
        var unanswered = MetricFamily(
            "nfc_tap_switch_unanswered_payments", .gauge,
            help: "Payments in a row that the acquirer has left without an answer.")
        unanswered.add(Double(await acquirer?.unanswered ?? 0))
        families.append(unanswered)
        var age = MetricFamily(
            "nfc_tap_switch_lease_age_seconds", .gauge, help: "Since this replica could last write to the books.")
        if let seconds = lease.age(at: MachineClock.awake) { age.add(seconds) }
        families.append(age)
        var behind = MetricFamily(
            "nfc_tap_switch_books_behind", .gauge,
            help: "Whether the books lack what this replica was told: they were restored.")
        behind.add(memory.isBehind ? 1 : 0)
        families.append(behind)
        let row = try await store.outlook()
        for gauge in Self.gauges {
            var family = MetricFamily("nfc_tap_switch_" + gauge.name, .gauge, help: gauge.help)
            if let number = row?.number(gauge.column) { family.add(Double(number)) }
            families.append(family)
        }
        var money = MetricFamily(
            "nfc_tap_switch_stored_minor_units", .gauge, help: "Sum of what the acquirer has not acknowledged yet.")
        for row in try await store.storedMoney() {
            money.add(Double(row.number("amount") ?? 0), [("currency", row.text("currency"))])
        }
        families.append(money)
        let state = try await store.imbalance()
        var imbalance = MetricFamily(
            "nfc_tap_switch_ledger_imbalance", .gauge, help: "Payments whose entries do not add up to nothing.")
        imbalance.add(Double(state.unbalanced))
        families.append(imbalance)
        return families
    }

    // MARK: - The page

    private func page() async throws(DatabaseError) -> String {
        let link = await acquirer?.isSignedOn == true ? "signed on" : "not signed on"
        let open = try await store.openItems()
        return """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>nfc-tap-switch</title>
            <style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin-bottom:2em}
            td,th{border:1px solid #999;padding:.2em .6em;text-align:left}caption{text-align:left;font-weight:bold}</style>
            <h1>nfc-tap-switch</h1><p>The acquirer is \(link). \(open.count) open items.</p>

            """
                + Self.table(
                    "Open items", open,
                    [
                        "created", "id", "merchant", "terminal", "kind", "stage", "wanted", "given_up", "attempts",
                        "amount", "currency",
                    ])
                + Self.table(
                    "Sums of the open day, in minor units", try await store.sums(),
                    ["merchant", "currency", "payments", "shop", "hold"])
                + Self.table(
                    "Ends of days", try await store.dayEnds(),
                    [
                        "day", "currency", "debits", "debit_amount", "credits", "credit_amount", "balance", "cut_over",
                        "settlement",
                    ])
                + Self.table("Tills", try await store.tills(), ["name", "merchant", "blocked", "seen", "version"])
    }

    private static func table(_ title: String, _ rows: Rows, _ columns: [String]) -> String {
        let head = columns.map { "<th>\($0.replacing("_", with: " "))</th>" }.joined()
        let lines = rows.map { row in
            "<tr>" + columns.map { "<td>\(escaped(row.text($0)))</td>" }.joined() + "</tr>\n"
        }
        return "<table><caption>\(title)</caption><tr>\(head)</tr>\n\(lines.joined())</table>\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
