// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of the adapter's `POST /v1/reconciliations`: a business day that was closed. `Idempotency-Key` is the day's id.
public struct ReconciliationRequest: Codable, Equatable, Sendable {
    public var id: String
    public var mode: Mode
    /// The terminal whose day it is, as authorisations name it.
    public var terminal: String
    public var number: Int64
    public var openedAt: Timestamp
    public var closedAt: Timestamp
    public var lines: [FigureLine]

    public init(
        id: String, mode: Mode, terminal: String, number: Int64, openedAt: Timestamp, closedAt: Timestamp,
        lines: [FigureLine]
    ) {
        self.id = id
        self.mode = mode
        self.terminal = terminal
        self.number = number
        self.openedAt = openedAt
        self.closedAt = closedAt
        self.lines = lines
    }
}

/// The adapter's answer to it, and to `GET /v1/reconciliations/{id}`.
public struct ReconciliationAnswer: Codable, Equatable, Sendable {
    public enum Status: String, Codable, CaseIterable, Sendable {
        case balanced, differs
        /// The payment service has no figures yet.
        case later
    }

    /// Of the day that it is about; one with another id answers nothing.
    public var id: String
    public var status: Status
    /// The payment service's own name for the reconciliation.
    public var reference: String?
    /// Its figures, demanded unless it says `later`. What it has none of is left out.
    public var lines: [FigureLine]?

    public init(id: String, status: Status, reference: String? = nil, lines: [FigureLine]? = nil) {
        self.id = id
        self.status = status
        self.reference = reference
        self.lines = lines
    }
}

/// One movement of money of a line.
public struct ReconciliationItem: Codable, Equatable, Sendable {
    /// The capture's id where an operation has captured it, else the transaction's.
    public var id: String
    public var value: Int64

    public init(id: String, value: Int64) {
        self.id = id
        self.value = value
    }
}

/// The adapter's answer to `GET /v1/reconciliations/{id}/items`.
public struct ReconciliationItems: Codable, Equatable, Sendable {
    /// At most `Limits.reconciliationPage`.
    public var items: [ReconciliationItem]
    /// For `after`, where there is more.
    public var next: String?

    public init(items: [ReconciliationItem], next: String? = nil) {
        self.items = items
        self.next = next
    }
}

extension ReconciliationAnswer {
    /// The answer as it can be kept: without a reference that could hold a card's number.
    ///
    /// - Returns: `nil` for one that is about something else, or says neither `later` nor figures that can be compared.
    public func usable(for day: String) -> ReconciliationAnswer? {
        guard id == day else { return nil }
        var answer = self
        answer.reference = reference.flatMap { $0.isHarmlessReference ? $0 : nil }
        guard status != .later else {
            answer.lines = nil
            return answer
        }
        guard let lines, lines.count <= Limits.reconciliationLines else { return nil }
        let areComparable = lines.allSatisfy { line in
            line.count >= 0 && line.scheme.map { $0.isReference(upTo: Limits.labelLength) } ?? true
                && (line.count > 0 || line.value == 0)
        }
        return areComparable ? answer : nil
    }
}

extension ReconciliationItems {
    /// The page with ids that can be kept: one that could hold a card's number loses it.
    ///
    /// - Returns: `nil` for one that is longer than a page, or names the next one in a way that nobody can ask for.
    public var usable: ReconciliationItems? {
        guard items.count <= Limits.reconciliationPage, next.map({ $0.isReference(upTo: 128) }) ?? true else {
            return nil
        }
        var page = self
        for index in page.items.indices
        where OperationID(page.items[index].id) == nil && !page.items[index].id.isHarmlessReference {
            page.items[index].id = ReconciliationItem.unreadable
        }
        return page
    }
}

extension ReconciliationItem {
    /// Stands for an id that is not kept.
    static let unreadable = "-"
}

extension String {
    /// Short, visible, and without a row of digits that a card's number could be.
    fileprivate var isHarmlessReference: Bool {
        isReference(upTo: Limits.orderLength) && MaskedCard.longestRun(self) < 8
    }
}
