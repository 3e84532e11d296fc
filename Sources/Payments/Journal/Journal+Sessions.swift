// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues
public import Transactions

/// How a lane that stands alone stands, over restarts.
public struct StandingNote: Equatable, Sendable {
    /// Number of the latest tap; 0 for none.
    public var tap: Int64 = 0
    public var isArmed = true
    /// What a tap asks for, in minor units; `nil` for what the configuration says.
    public var value: Int64?

    public init() {}
}

/// A session with its transaction.
public struct SessionRecord: Sendable {
    public var session: StandingSession
    public var transaction: Transaction

    public init(_ session: StandingSession, _ transaction: Transaction) {
        self.session = session
        self.transaction = transaction
    }

    public var stage: SessionStage { SessionStage(session, transaction) }
}

/// Which sessions are asked for.
public struct SessionFilter: Equatable, Sendable {
    public var id: TransactionID?
    public var lane: String?
    public var reference: String?
    /// Only those whose money may still move; all of them otherwise.
    public var isOpen = false
    public var limit = 100

    public init() {}
}

extension Journal {
    /// How the lane stands; as it begins where nothing is written of it.
    ///
    /// - Throws: what keeps the journal from being read.
    public func standing(_ lane: String) throws(JournalError) -> StandingNote {
        let found = try database.query("SELECT tap, armed, value FROM standing_lane WHERE lane = ?", [.text(lane)]) {
            (row) throws(JournalError) in
            var note = StandingNote()
            (note.tap, note.isArmed) = (try row.integer(0), try row.integer(1) == 1)
            note.value = row.optionalInteger(2)
            return note
        }
        return found.first ?? StandingNote()
    }

    /// Notes what a machine wishes of the lane: whether it is armed, and for how much. What it does not name stays as it is written, and so
    /// does the number of the latest tap.
    ///
    /// - Returns: how the lane stands after that.
    /// - Throws: what keeps the journal from being written.
    public func note(
        _ wish: StandingRequest, of lane: String, by owner: Principal, at time: Timestamp
    ) throws(JournalError) -> StandingNote {
        try database.transaction { () throws(JournalError) in
            var standing = try standing(lane)
            if let armed = wish.armed { standing.isArmed = armed }
            if let amount = wish.amount { standing.value = amount }
            try database.run(
                """
                INSERT INTO standing_lane (lane, armed, value) VALUES (?, ?, ?)
                ON CONFLICT (lane) DO UPDATE SET armed = excluded.armed, value = excluded.value
                """,
                [
                    .text(lane), .integer(standing.isArmed ? 1 : 0), standing.value.map { .integer($0) } ?? .null,
                ])
            let value = standing.value.map { ", asks for \($0)" } ?? ""
            let detail = "\(standing.isArmed ? "armed" : "disarmed")\(value) \(owner)"
            try note(AuditEntry(.session, subject: lane, detail: detail, at: time))
            return standing
        }
    }

    /// Writes down a transaction that a tap has begun, with its number and its session, in one step.
    ///
    /// - Parameters:
    ///   - number: of the tap on its lane.
    ///   - session: `nil` for a tap of which no money comes.
    /// - Throws: what keeps the journal from being written.
    public func createTap(
        _ new: NewTransaction, _ number: Int64, _ session: StandingSession?
    ) throws(JournalError) -> Creation {
        try database.transaction { () throws(JournalError) in
            let creation = try create(new)
            guard case .created = creation else { return creation }
            try database.run(
                """
                INSERT INTO standing_lane (lane, tap) VALUES (?, ?)
                ON CONFLICT (lane) DO UPDATE SET tap = excluded.tap
                """, [.text(new.lane), .integer(number)])
            guard let session else { return creation }
            try database.run(
                "INSERT INTO session (payment, tap, mode, release_at) VALUES (?, ?, ?, ?)",
                [
                    .text(new.id.text), .integer(session.tap), .text(session.mode.rawValue),
                    .integer(session.releaseAt.milliseconds),
                ])
            return creation
        }
    }

    /// Writes down that a machine has claimed an approval, and confirms it in the same step.
    ///
    /// - Parameter isInTime: as for `confirm`.
    /// - Returns: `nil` where another claim came first.
    /// - Throws: `.unknownTransaction`, or what keeps the journal from being written.
    public func claim(
        _ id: TransactionID, reference: String, releaseAt: Timestamp, by owner: Principal, at time: Timestamp,
        isInTime: Bool?
    ) throws(JournalError) -> ConfirmationOutcome? {
        try database.transaction { () throws(JournalError) in
            let outcome = try confirm(id, at: time, isInTime: isInTime)
            guard outcome == .confirmed else { return outcome }
            try database.run(
                "UPDATE session SET reference = ?, release_at = ? WHERE payment = ? AND reference IS NULL",
                [.text(reference), .integer(releaseAt.milliseconds), .text(id.text)])
            guard database.changes == 1 else { return nil }
            try note(AuditEntry(.session, subject: id.text, detail: "claimed \(owner)", at: time))
            return outcome
        }
    }

    /// Writes down that a machine has claimed what was read and kept, before it is sent.
    ///
    /// - Returns: `false` where another claim, or its end, came first.
    /// - Throws: what keeps the journal from being written.
    public func claimRead(
        _ id: TransactionID, reference: String, releaseAt: Timestamp, by owner: Principal, at time: Timestamp
    ) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            try database.run(
                """
                UPDATE session SET reference = ?, release_at = ? WHERE payment = ? AND mode = 'ask' AND reference IS NULL
                    AND EXISTS (SELECT 1 FROM payment WHERE id = session.payment AND state = 'sealed')
                """, [.text(reference), .integer(releaseAt.milliseconds), .text(id.text)])
            guard database.changes == 1 else { return false }
            try note(AuditEntry(.session, subject: id.text, detail: "claimed \(owner)", at: time))
            return true
        }
    }

    /// Moves the time when a hold goes back.
    ///
    /// - Throws: what keeps the journal from being written.
    public func keep(
        _ id: TransactionID, until time: Timestamp, by owner: Principal, at now: Timestamp
    ) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try database.run(
                "UPDATE session SET release_at = ? WHERE payment = ?",
                [.integer(time.milliseconds), .text(id.text)])
            try note(AuditEntry(.session, subject: id.text, detail: "kept until \(time) \(owner)", at: now))
        }
    }

    /// Sessions by the filter, the latest first. Damaged payments are not among them.
    ///
    /// - Throws: `.damaged`, or what keeps the journal from being read.
    public func sessions(_ filter: SessionFilter) throws(JournalError) -> [SessionRecord] {
        var (conditions, values): ([String], [SQLValue]) = ([], [])
        if let id = filter.id {
            conditions.append("payment = ?")
            values.append(.text(id.text))
        }
        if let lane = filter.lane {
            conditions.append("lane = ?")
            values.append(.text(lane))
        }
        if let reference = filter.reference {
            conditions.append("reference = ?")
            values.append(.text(reference))
        }
        if filter.isOpen {
            let over: [TransactionState] = [.declined, .cancelled, .failed, .completed, .reversing, .reversed]
            conditions.append("state NOT IN (\(over.map { "'\($0.rawValue)'" }.joined(separator: ", ")))")
            conditions.append(
                "(state <> 'approved' OR \(Journal.awaitsConfirmation)"
                    + " OR (json_valid(account) AND json_extract(account, '$.state') = 'open'))")
        }
        let condition = conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
        let found = try database.query(
            """
            SELECT payment, tap, session.mode, reference, release_at FROM session JOIN payment ON payment.id = session.payment
            WHERE \(condition) ORDER BY payment.created_at DESC, tap DESC
            """, values
        ) { (row) throws(JournalError) in
            guard let mode = StandingMode(rawValue: try row.text(2)) else { throw .damaged }
            return StandingSession(
                id: try row.transactionID(0), tap: try row.integer(1), mode: mode, reference: row.optionalText(3),
                releaseAt: Timestamp(milliseconds: try row.integer(4)))
        }
        var records: [SessionRecord] = []
        for session in found {
            guard records.count < filter.limit else { break }
            let sound = try self.records(where: "id = ?", [.text(session.id.text)], .leaveOut)
            guard let transaction = sound.first?.transaction else { continue }
            let record = SessionRecord(session, transaction)
            if filter.isOpen, !record.stage.isOpen { continue }
            records.append(record)
        }
        return records
    }
}
