// SPDX-License-Identifier: Apache-2.0
public import Ledger
public import PaymentValues

/// Operations on payments: captures, adjustments, releases. Limits are checked by the books and the row is written in one
/// step; whatever an answer books is written in one step with the answer.
extension Journal {
    /// Writes a new operation down in state `created`, if the books allow it.
    ///
    /// - Parameters:
    ///   - isInTime: with a capture that confirms an approval: whether it still can, by the clock that nobody sets; `nil`
    ///     where the wall clock is all there is.
    ///   - request: what will be sent, now that it is certain what is wanted: byte for byte the same each time. Without
    ///     one nothing is written.
    public func createOperation(
        _ new: NewOperation, isInTime: Bool? = nil, request: (Operation, PaymentLedger) -> String?
    ) throws(JournalError) -> OperationCreation {
        try database.transaction { () throws(JournalError) in
            if let earlier = try earlierOperation(
                owner: new.owner, idempotencyKey: new.idempotencyKey, requestHash: new.requestHash)
            {
                return earlier
            }
            guard var books = try books(of: new.payment) else { return .unknownPayment }
            let operation: Operation
            do throws(LedgerRefusal) {
                if case .capture = new.wish, books.isAwaitingConfirmation {
                    guard try isConfirmable(new.payment, at: new.at, isInTime) else { throw .confirmationTooLate }
                }
                operation = try books.request(new.wish, new.id, at: new.at)
            } catch {
                return .refused(error)
            }
            guard let body = request(operation, books) else { return .withoutRequest }
            try insert(new, operation, books, body)
            if case .capture = new.wish {
                try database.run(
                    "UPDATE payment SET confirmed_at = ? WHERE id = ? AND confirm_due IS NOT NULL AND confirmed_at IS NULL",
                    [.integer(new.at.milliseconds), .text(new.payment.text)])
            }
            try renewAccount(of: new.payment, at: new.at)
            return .created(try existing(new.id))
        }
    }

    /// Whether somebody has used a key for an operation before, and for what; `nil` if not.
    public func earlierOperation(
        owner: Principal, idempotencyKey: String, requestHash: String
    ) throws(JournalError) -> OperationCreation? {
        let found = try operations(
            where: "\(Journal.isOwned) AND idempotency_key = ?", owner.values + [.text(idempotencyKey)])
        guard let record = found.first else {
            return try isSpent(operationOf: owner, idempotencyKey: idempotencyKey) ? .erased : nil
        }
        return record.requestHash == requestHash ? .repeated(record) : .keyReused(record.id)
    }

    public func operation(_ id: OperationID) throws(JournalError) -> OperationRecord? {
        try operations(where: "id = ?", [.text(id.text)]).first
    }

    /// Operations on a payment, oldest first.
    public func operations(of payment: TransactionID) throws(JournalError) -> [OperationRecord] {
        try operations(where: "payment = ? ORDER BY rowid", [.text(payment.text)])
    }

    /// All that have no end yet, what is due first: what a start goes on with.
    public func openOperations() throws(JournalError) -> [OperationRecord] {
        try operations(where: "state IN ('created', 'sent', 'unknown') ORDER BY due, rowid", [])
    }

    /// Moves an operation on to `sent`, which counts an attempt, or to `unknown`.
    ///
    /// - Parameter due: when it is looked after next.
    /// - Throws: `.illegalMove`, `.unknownOperation`.
    public func moveOperation(
        _ id: OperationID, to state: OperationState, due: Timestamp?, at time: Timestamp
    ) throws(JournalError) -> OperationRecord {
        try database.transaction { () throws(JournalError) in
            let record = try existing(id)
            guard state.isOpen, record.state.successors.contains(state) else {
                throw .illegalMove(from: record.state, to: state)
            }
            try write(state, of: record, result: nil, error: nil, due: due, at: time)
            try touch(record.payment, at: time)
            return try existing(id)
        }
    }

    /// Writes down when an operation that has no end is looked after next.
    public func planOperation(_ id: OperationID, due: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try database.run(
                "UPDATE operation SET due = ? WHERE id = ? AND state IN ('created', 'sent', 'unknown')",
                [.integer(due.milliseconds), .text(id.text)])
            guard database.changes == 1 else { throw .unknownOperation }
        }
    }

    /// Writes the last word on an operation down, with the rows that it makes.
    ///
    /// - Parameters:
    ///   - result: what the payment service answered, as JSON.
    ///   - evidence: with a person's word instead of the service's: who, and why.
    public func endOperation(
        _ id: OperationID, _ answer: OperationAnswer, result: String?, error: ErrorDetail? = nil,
        evidence: String? = nil, at time: Timestamp
    ) throws(JournalError) -> OperationEnding {
        try database.transaction { () throws(JournalError) in
            let record = try existing(id)
            guard var books = try books(of: record.payment) else { throw .damaged }
            let limit = books.captureBefore
            let booking = books.answered(id, answer)
            if let evidence { try note(AuditEntry(.resolution, subject: id.text, detail: evidence, at: time)) }
            switch booking {
            case .repeated: return .repeated(record)
            case .rows(let rows):
                let end: OperationState = answer == .refused ? .refused : .done
                try write(end, of: record, result: result, error: error, due: nil, at: time)
                try book(rows, tip: record.tip, at: time)
                if books.captureBefore != limit { try extend(record.payment, to: books.captureBefore) }
                try renewAccount(of: record.payment, at: time)
                return .booked(try existing(id))
            case .contradicted:
                // Done at the service, with nothing here that it could have been done to.
                if record.state == .sent || record.state == .unknown {
                    try write(.done, of: record, result: result, error: error, due: nil, at: time)
                }
                try attend(to: record, .contradiction, at: time)
                return .contradicted(try existing(id))
            }
        }
    }

    /// Writes down that a person has to look after an operation; the first reason stays, except that `contradiction` is
    /// stronger than any.
    public func attend(
        to id: OperationID, _ attention: OperationAttention, at time: Timestamp
    ) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try attend(to: try existing(id), attention, at: time)
        }
    }

    /// Somebody has looked after an operation that has ended.
    ///
    /// - Returns: whether there was anything to look after.
    public func settleAttention(
        to id: OperationID, evidence: String, at time: Timestamp
    ) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            let record = try existing(id)
            guard record.attention != nil, !record.state.isOpen else { return false }
            try database.run(
                "UPDATE operation SET attention = NULL, attention_since = NULL, updated_at = ? WHERE id = ?",
                [.integer(time.milliseconds), .text(id.text)])
            try note(AuditEntry(.resolution, subject: id.text, detail: evidence, at: time))
            try touch(record.payment, at: time)
            return true
        }
    }

    /// Writes down that the issuer holds nothing any more. A capture without an answer may have been in time: the hold waits
    /// for it.
    ///
    /// - Returns: whether anything was held.
    public func expire(_ payment: TransactionID, at time: Timestamp) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            guard var books = try books(of: payment) else { throw .unknownTransaction }
            guard books.openOperation == nil, case .rows(let rows) = books.expired() else { return false }
            try book(rows, at: time)
            try note(AuditEntry(.paymentOperation, subject: payment.text, detail: "hold expired", at: time))
            try renewAccount(of: payment, at: time)
            return true
        }
    }

    // MARK: Rows of the table

    private func existing(_ id: OperationID) throws(JournalError) -> OperationRecord {
        guard let record = try operation(id) else { throw .unknownOperation }
        return record
    }

    private func attend(
        to record: OperationRecord, _ attention: OperationAttention, at time: Timestamp
    ) throws(JournalError) {
        guard record.attention == nil || attention == .contradiction && record.attention != attention else { return }
        try database.run(
            """
            UPDATE operation SET attention = ?, attention_since = coalesce(attention_since, ?), updated_at = ? WHERE id = ?
            """,
            [
                .text(attention.rawValue), .integer(time.milliseconds), .integer(time.milliseconds),
                .text(record.id.text),
            ])
        try note(
            AuditEntry(.paymentOperation, subject: record.id.text, detail: "open: \(attention.rawValue)", at: time))
        try touch(record.payment, at: time)
    }

    /// Until when the service holds a payment's sum, without a change to what else it has said.
    private func extend(_ payment: TransactionID, to time: Timestamp?) throws(JournalError) {
        let found = try database.query("SELECT service_terms FROM payment WHERE id = ?", [.text(payment.text)]) {
            (row) throws(JournalError) -> ServiceTerms? in try row.message(0)
        }
        var terms = (found.first ?? nil) ?? ServiceTerms()
        terms.captureBefore = time
        try database.run(
            "UPDATE payment SET service_terms = ? WHERE id = ?", [try json(terms), .text(payment.text)])
    }

    func isConfirmable(
        _ payment: TransactionID, at time: Timestamp, _ isInTime: Bool?
    ) throws(LedgerRefusal) -> Bool {
        if let isInTime { return isInTime }
        do throws(JournalError) {
            let due =
                try database.query("SELECT confirm_due FROM payment WHERE id = ?", [.text(payment.text)]) {
                    (row) throws(JournalError) in row.optionalInteger(0)
                }.first ?? nil
            return due.map { time.milliseconds <= $0 } ?? true
        } catch {
            // Whoever cannot say that there is time has none.
            return false
        }
    }

    private func insert(
        _ new: NewOperation, _ operation: Operation, _ books: PaymentLedger, _ request: String
    ) throws(JournalError) {
        let columns = Columns(operation.action, holding: books.hold)
        try database.run(
            """
            INSERT INTO operation (id, payment, kind, uid, till, idempotency_key, request_hash, value, tip, final, currency,
                state, request, due, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'created', ?, ?, ?, ?)
            """,
            [
                .text(new.id.text), .text(new.payment.text), .text(columns.kind), new.owner.uidValue,
                new.owner.tillValue, .text(new.idempotencyKey), .text(new.requestHash), .integer(columns.value),
                .integer(columns.tip),
                .integer(columns.isFinal ? 1 : 0), .text(books.currency.code), .text(request),
                .integer(new.at.milliseconds), .integer(new.at.milliseconds), .integer(new.at.milliseconds),
            ])
        try insertStep(.created, of: new.id, at: new.at)
        try note(
            AuditEntry(
                .paymentOperation, subject: new.id.text,
                detail: "\(columns.kind) \(columns.value) \(books.currency) of \(new.payment) created \(new.owner)",
                at: new.at))
    }

    private func write(
        _ state: OperationState, of record: OperationRecord, result: String?, error: ErrorDetail?, due: Timestamp?,
        at time: Timestamp
    ) throws(JournalError) {
        guard record.state.successors.contains(state) else { throw .illegalMove(from: record.state, to: state) }
        try database.run(
            """
            UPDATE operation SET state = ?, attempts = attempts + ?, result = coalesce(?, result),
                error = coalesce(?, error), due = ?, updated_at = ? WHERE id = ?
            """,
            [
                .text(state.rawValue), .integer(state == .sent ? 1 : 0), SQLValue(result), try json(error),
                SQLValue(due?.milliseconds), .integer(time.milliseconds), .text(record.id.text),
            ])
        // What has an end is not stuck any more.
        if !state.isOpen {
            try database.run(
                "UPDATE operation SET attention = NULL, attention_since = NULL WHERE id = ? AND attention = ?",
                [.text(record.id.text), .text(OperationAttention.stuck.rawValue)])
        }
        try insertStep(state, of: record.id, at: time)
        try note(AuditEntry(.paymentOperation, subject: record.id.text, detail: state.rawValue, at: time))
    }

    private func insertStep(
        _ state: OperationState, of id: OperationID, at time: Timestamp
    ) throws(JournalError) {
        try database.run(
            "INSERT INTO operation_change (operation, state, at) VALUES (?, ?, ?)",
            [.text(id.text), .text(state.rawValue), .integer(time.milliseconds)])
    }
}

extension PaymentLedger {
    mutating func request(
        _ wish: NewOperation.Request, _ id: OperationID, at now: Timestamp
    ) throws(LedgerRefusal) -> Operation {
        switch wish {
        case .capture(let amount, let tip, let isFinal):
            try requestCapture(id, amount: amount, tip: tip, isFinal: isFinal, at: now)
        case .adjust(let total): try requestAdjustment(id, total: total)
        case .extend: try requestExtension(id)
        case .release(let amount): try requestRelease(id, amount: amount)
        }
    }
}
