// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// Money that has moved, as the service's day has it.
struct Movement: Codable, Sendable {
    let kind: FigureLine.Kind
    /// Of the operation, or the transaction itself.
    let id: String
    let value: Int64
    let at: Timestamp
    /// The day whose figures it is in; `nil` until one is told.
    var day: String?
}

/// A day that a terminal has told of.
struct BookedDay: Codable, Sendable {
    let id: String
    /// Later than that its figures are there.
    let visibleFrom: Timestamp
    let answer: ReconciliationAnswer
    /// Whatever `answer` says: of lines, by what they are of.
    let movements: [Kept]

    struct Kept: Codable, Sendable {
        let currency: Currency
        let scheme: String
        let kind: FigureLine.Kind
        let id: String
        let value: Int64
    }
}

extension BookedPayment {
    /// Notes what has moved since it was worth `before`.
    mutating func note(_ kind: FigureLine.Kind, _ id: String, _ before: Int64, _ entry: LedgerEntry, at time: Timestamp)
    {
        guard entry.money != before else { return }
        movements = (movements ?? []) + [Movement(kind: kind, id: id, value: entry.money - before, at: time)]
    }
}

/// The service's figures of a day. They are of what it has booked, and never of what the terminal says.
enum SandboxDays {
    /// Sales that are missing in the day's figures: by the last two digits of what they took. Of those in `liar` the service
    /// says besides that all is well.
    private static let forgotten: Set<Int64> = [31, 32]
    private static let liar: Int64 = 32

    /// Closes the day: what it has booked for the terminal until then is of this day, and of no other.
    static func reconcile(
        _ request: ReconciliationRequest, in sandbox: isolated Sandbox
    ) throws(StoreError) -> SandboxAnswer {
        guard sandbox.features.contains(.reconcile) else { return .error(403, .pspRefused) }
        return try sandbox.store.atomically { () throws(StoreError) in
            if let known = try sandbox.store.reconciliation(request.id) { return known.answer(at: sandbox.now()) }
            var kept: [BookedDay.Kept] = []
            for var payment in try sandbox.store.payments() where payment.terminal == request.terminal {
                guard let entry = payment.entry, var movements = payment.movements else { continue }
                for index in movements.indices
                where movements[index].day == nil && movements[index].at <= request.closedAt {
                    movements[index].day = request.id
                    let movement = movements[index]
                    kept.append(
                        BookedDay.Kept(
                            currency: entry.amount.currency, scheme: entry.card.scheme, kind: movement.kind,
                            id: movement.id, value: movement.value))
                }
                payment.movements = movements
                try sandbox.store.save(payment)
            }
            let isLie = kept.contains { $0.value % 100 == Self.liar }
            kept.removeAll { Self.forgotten.contains($0.value % 100) }
            let lines = BookedDay.lines(kept, request.mode)
            let isSame = Set(lines) == Set(request.lines)
            let day = BookedDay(
                id: request.id, visibleFrom: sandbox.now().advanced(by: sandbox.timing.figures),
                answer: ReconciliationAnswer(
                    id: request.id, status: isSame || isLie ? .balanced : .differs,
                    reference: "SANDBOX-DAY-\(try sandbox.store.nextReference())", lines: lines), movements: kept)
            try sandbox.store.save(day)
            return day.answer(at: sandbox.now())
        }
    }

    /// `nil` for a day that was never told.
    static func figures(of id: String, in sandbox: isolated Sandbox) throws(StoreError) -> SandboxAnswer? {
        try sandbox.store.reconciliation(id).map { $0.answer(at: sandbox.now()) }
    }

    /// A page of what a line is of.
    static func items(
        in sandbox: isolated Sandbox, of id: String, kind: String?, currency: String?, scheme: String?, after: String?
    ) throws(StoreError) -> SandboxAnswer {
        guard let day = try sandbox.store.reconciliation(id), sandbox.now() >= day.visibleFrom else {
            return .error(404, .transactionUnknown)
        }
        let items = day.movements.filter { item in
            item.kind.rawValue == kind && item.currency.code == currency && item.scheme == scheme ?? ""
                && after.map { item.id > $0 } ?? true
        }.map { ReconciliationItem(id: $0.id, value: $0.value) }.sorted { $0.id < $1.id }
        let page = Array(items.prefix(Limits.reconciliationPage))
        return SandboxAnswer(
            200, ReconciliationItems(items: page, next: page.count < items.count ? page.last?.id : nil))
    }
}

extension BookedDay {
    fileprivate func answer(at time: Timestamp) -> SandboxAnswer {
        guard time >= visibleFrom else { return SandboxAnswer(202, ReconciliationAnswer(id: id, status: .later)) }
        return SandboxAnswer(200, answer)
    }

    fileprivate static func lines(_ kept: [Kept], _ mode: Mode) -> [FigureLine] {
        var lines: [FigureLine] = []
        for item in kept {
            let index =
                lines.firstIndex { $0.currency == item.currency && $0.scheme == item.scheme && $0.kind == item.kind }
                ?? lines.endIndex
            if index == lines.endIndex {
                lines.append(
                    FigureLine(mode: mode, currency: item.currency, scheme: item.scheme, kind: item.kind))
            }
            lines[index].count += 1
            let (sum, overflow) = lines[index].value.addingReportingOverflow(item.value)
            lines[index].value = overflow ? (item.value < 0 ? .min : .max) : sum
        }
        return lines
    }
}
