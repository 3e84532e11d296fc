// SPDX-License-Identifier: Apache-2.0
import Crypto
public import POSAPI
public import PaymentValues
import Transactions

/// Stored cards and what their holders have agreed to: the agreement is written before the card is read, the card with the
/// approval. An agreement is never altered; it ends.
extension Journal {
    // MARK: - Agreements

    /// A further agreement about a stored card.
    public func agree(
        _ terms: AgreementTerms, about stored: StoredCardID, owner: Principal, idempotencyKey: String,
        requestHash: String, at time: Timestamp
    ) throws(JournalError) -> AgreementCreation {
        try database.transaction { () throws(JournalError) in
            let known = try database.query(
                "SELECT id, request_hash FROM agreement WHERE \(Journal.isOwned) AND idempotency_key = ?",
                owner.values + [.text(idempotencyKey)]
            ) { (row) throws(JournalError) in (AgreementID(rawValue: try row.text(0)), try row.text(1)) }
            if let (id, hash) = known.first {
                guard let id else { throw .damaged }
                guard hash == requestHash, let agreement = try agreement(id) else { return .keyReused }
                return .repeated(agreement)
            }
            guard let credential = try credentialRow(stored) else { return .unknown }
            guard credential.card.state == .active else { return .deleted }
            let agreement = Agreement(AgreementID(), terms, hash: Journal.hash(of: terms.text), agreedAt: time)
            try insert(agreement, of: stored, with: nil, owner, key: (idempotencyKey, requestHash))
            return .created(agreement)
        }
    }

    /// As a part of a step that writes more down: the transaction, if it comes with one.
    func insert(
        _ agreement: Agreement, of stored: StoredCardID?, with payment: TransactionID?, _ owner: Principal,
        key: (String, hash: String)? = nil
    ) throws(JournalError) {
        // The hash is proof only if it is that of the text.
        let hash = Journal.hash(of: agreement.text)
        try database.run(
            """
            INSERT INTO agreement (id, credential, payment, terms, hash, agreed_at, uid, till, idempotency_key,
                request_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(agreement.id.rawValue), SQLValue(stored?.rawValue), SQLValue(payment?.text),
                try json(agreement.terms), .text(hash), .integer(agreement.agreedAt.milliseconds), owner.uidValue,
                owner.tillValue, SQLValue(key?.0), SQLValue(key?.hash),
            ])
        let about = payment.map { " transaction \($0)" } ?? stored.map { " stored card \($0)" } ?? ""
        try note(
            AuditEntry(
                .agreement, subject: agreement.id.rawValue,
                detail: "\(agreement.kind.rawValue) sha256 \(hash)\(about) \(owner)", at: agreement.agreedAt))
    }

    /// SHA-256 of an agreement's text in UTF-8, in lower-case hexadecimal.
    public static func hash(of text: String) -> String { LowerHex.text(SHA256.hash(data: Array(text.utf8))) }

    public func agreement(_ id: AgreementID) throws(JournalError) -> Agreement? {
        try agreements(where: "id = ?", [.text(id.rawValue)]).first
    }

    /// Ends an agreement; one that has ended stays as it ended.
    ///
    /// - Returns: `nil` where there is none.
    public func endAgreement(
        _ id: AgreementID, by owner: Principal, at time: Timestamp
    ) throws(JournalError) -> Agreement? {
        try database.transaction { () throws(JournalError) in
            try end("id = ?", [.text(id.rawValue)], .ended, "\(owner)", at: time)
            return try agreement(id)
        }
    }

    func end(
        _ condition: String, _ values: [SQLValue], _ end: Agreement.End, _ why: String, at time: Timestamp
    ) throws(JournalError) {
        let ended = try database.query(
            "UPDATE agreement SET ended_at = ?, end = ? WHERE \(condition) AND ended_at IS NULL RETURNING id",
            [.integer(time.milliseconds), .text(end.rawValue)] + values
        ) { (row) throws(JournalError) in try row.text(0) }
        for id in ended {
            try note(AuditEntry(.agreement, subject: id, detail: "\(end.rawValue) \(why)", at: time))
        }
    }

    private func agreements(where condition: String, _ values: [SQLValue]) throws(JournalError) -> [Agreement] {
        try database.query(
            """
            SELECT id, terms, hash, agreed_at, payment, ended_at, end, \(digests.isSound("agreement", by: "id"))
            FROM agreement WHERE \(condition)
            ORDER BY agreed_at, id
            """, values
        ) { (row) throws(JournalError) in
            guard try row.integer(7) == 1, let id = AgreementID(rawValue: try row.text(0)),
                let terms: AgreementTerms = try row.message(1)
            else {
                throw .damaged
            }
            let hash = try row.text(2)
            // Proof that is not what was agreed to proves nothing.
            guard Journal.hash(of: terms.text) == hash else { throw .damaged }
            var agreement = Agreement(
                id, terms, hash: hash, agreedAt: Timestamp(milliseconds: try row.integer(3)),
                transaction: try row.transaction(4))
            agreement.endedAt = row.optionalInteger(5).map { Timestamp(milliseconds: $0) }
            if row.optionalText(6) != nil { agreement.end = try row.name(6) }
            return agreement
        }
    }

    /// Erases what was agreed to and has ended before a time, and stored cards that are deleted since then and have no
    /// agreement left.
    ///
    /// - Returns: how many agreements.
    public func eraseProofs(endedBefore time: Timestamp, at now: Timestamp) throws(JournalError) -> Int {
        let before = SQLValue.integer(min(time, now).milliseconds)
        return try database.transaction { () throws(JournalError) in
            let erased = try database.query(
                "DELETE FROM agreement WHERE ended_at IS NOT NULL AND ended_at < ? RETURNING id", [before]
            ) { (row) throws(JournalError) in try row.text(0) }
            try database.run(
                """
                DELETE FROM credential WHERE state = 'deleted' AND ended_at < ?
                    AND id NOT IN (SELECT credential FROM agreement WHERE credential IS NOT NULL)
                """, [before])
            guard !erased.isEmpty else { return 0 }
            try note(AuditEntry(.retention, detail: "\(erased.count) agreements erased", at: now))
            return erased.count
        }
    }

    // MARK: - With a transaction's states

    /// What a change of state means for stored cards; the change itself has been written.
    func store(_ change: StateChange, of id: TransactionID) throws(JournalError) {
        switch change.state {
        case .approved:
            try storeCard(change, of: id)
            try closeTab(with: id, at: change.at)
        // Handed over in a batch, whatever the payment service makes of the card is not heard of here.
        case .declined, .delivered, .cancelled, .failed, .reversing, .completed:
            try end(
                "payment = ? AND credential IS NULL", [.text(id.text)], .notGiven, change.state.rawValue, at: change.at)
            try end("payment = ?", [.text(id.text)], .ended, change.state.rawValue, at: change.at)
            guard change.state == .declined, change.result?.retry == .never else { return }
            try end(
                """
                id = (SELECT json_extract(details, '$.charge.agreement') FROM payment WHERE id = ? AND type = 'charge')
                """, [.text(id.text)], .stopped, "by the payment service", at: change.at)
        case .created, .preparing, .armed, .reading, .sealed, .sent, .stored, .unknown, .reversed: return
        }
    }

    /// A charge under an agreement for one charge ends that; a card that was stored for nothing else is to be forgotten.
    private func closeTab(with charge: TransactionID, at time: Timestamp) throws(JournalError) {
        let tabs = try database.query(
            """
            SELECT agreement.id, agreement.credential FROM payment JOIN agreement
                ON agreement.id = json_extract(payment.details, '$.charge.agreement')
            WHERE payment.id = ? AND payment.type = 'charge' AND json_extract(agreement.terms, '$.once') = 1
            """, [.text(charge.text)]
        ) { (row) throws(JournalError) in (try row.text(0), row.optionalText(1)) }
        guard let (agreement, credential) = tabs.first else { return }
        try end("id = ?", [.text(agreement)], .ended, "by transaction \(charge)", at: time)
        guard let credential else { return }
        let forgotten = try database.query(
            """
            UPDATE credential SET state = 'deleting', due = ? WHERE id = ? AND state = 'active'
                AND id NOT IN (SELECT credential FROM agreement WHERE credential IS NOT NULL AND ended_at IS NULL)
            RETURNING id
            """, [.integer(time.milliseconds), .text(credential)]
        ) { (row) throws(JournalError) in try row.text(0) }
        for id in forgotten {
            try note(AuditEntry(.credential, subject: id, detail: "deleting after transaction \(charge)", at: time))
        }
    }

    private func storeCard(_ change: StateChange, of id: TransactionID) throws(JournalError) {
        let waiting = try database.query(
            "SELECT id FROM agreement WHERE payment = ? AND credential IS NULL AND ended_at IS NULL", [.text(id.text)]
        ) { (row) throws(JournalError) in try row.text(0) }
        guard let agreement = waiting.first, let record = try record(id) else { return }
        let card = record.transaction.card
        let serviceName = record.service?.serviceName ?? ""
        let mode = record.transaction.mode
        var stored: StoredCardID?
        if let card, let token = card.token {
            let living = try credentialRows(
                where: "mode = ? AND issuer = ? AND token = ? AND state <> 'deleted'",
                [.text(mode.rawValue), .text(serviceName), .text(token)])
            if let living = living.first {
                // One that is being deleted at the service is not stored again under the same name.
                stored = living.card.state == .active ? living.card.id : nil
            } else {
                stored = try insert(card, token, record, serviceName, change)
            }
        }
        guard let stored else {
            try end("id = ?", [.text(agreement)], .notGiven, "no token", at: change.at)
            guard change.error == nil else { return }
            try database.run(
                "UPDATE payment SET error = ? WHERE id = ?",
                [try json(ErrorDetail(.storedCardNotGiven, transaction: id)), .text(id.text)])
            return
        }
        try database.run(
            "UPDATE agreement SET credential = ? WHERE id = ?", [.text(stored.rawValue), .text(agreement)])
    }

    private func insert(
        _ card: MaskedCard, _ token: String, _ record: JournalRecord, _ serviceName: String, _ change: StateChange
    ) throws(JournalError) -> StoredCardID {
        let (id, transaction) = (StoredCardID(), record.transaction)
        try database.run(
            """
            INSERT INTO credential (id, token, mode, issuer, service, card, expires, network_reference, payment, state,
                created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?)
            """,
            [
                .text(id.rawValue), .text(token), .text(transaction.mode.rawValue), .text(serviceName),
                try json(record.service), try json(card.withoutToken), SQLValue(change.terms?.cardExpires),
                SQLValue(change.terms?.networkReference), .text(transaction.id.text),
                .integer(change.at.milliseconds),
            ])
        try note(
            AuditEntry(
                .credential, subject: id.rawValue, detail: "stored with transaction \(transaction.id)", at: change.at))
        return id
    }

    // MARK: - Stored cards

    /// A stored card, and whom its token is from.
    struct CredentialRow {
        var card: StoredCard
        var service: AskedService?
        var networkReference: String?
        var attempts: Int
        var due: Timestamp?
    }

    func credentialRow(_ id: StoredCardID) throws(JournalError) -> CredentialRow? {
        try credentialRows(where: "id = ?", [.text(id.rawValue)]).first
    }

    func credentialRows(where condition: String, _ values: [SQLValue]) throws(JournalError) -> [CredentialRow] {
        var rows = try database.query(
            """
            SELECT id, token, mode, service, card, expires, network_reference, payment, state, created_at, ended_at,
                attempts, due, \(digests.isSound("credential", by: "id"))
            FROM credential WHERE \(condition) ORDER BY created_at, id
            """, values
        ) { (row) throws(JournalError) -> CredentialRow in
            // A token that is another one charges another card.
            guard try row.integer(13) == 1, let id = StoredCardID(rawValue: try row.text(0)),
                let card: MaskedCard = try row.message(4)
            else {
                throw .damaged
            }
            let token = try row.text(1)
            let stored = StoredCard(
                id: id, state: try row.name(8), mode: try row.name(2), card: card.named(token.isEmpty ? nil : token),
                expires: row.optionalText(5), transaction: try row.transactionID(7),
                createdAt: Timestamp(milliseconds: try row.integer(9)),
                deletedAt: row.optionalInteger(10).map { Timestamp(milliseconds: $0) })
            return CredentialRow(
                card: stored, service: try row.message(3), networkReference: row.optionalText(6),
                attempts: Int(clamping: try row.integer(11)),
                due: row.optionalInteger(12).map { Timestamp(milliseconds: $0) })
        }
        for index in rows.indices {
            rows[index].card.agreements = try agreements(
                where: "credential = ?", [.text(rows[index].card.id.rawValue)])
        }
        return rows
    }

    public func storedCard(_ id: StoredCardID) throws(JournalError) -> StoredCard? { try credentialRow(id)?.card }

    /// - Parameter token: `nil` for all that are not deleted, newest first.
    public func storedCards(mode: Mode, token: String?) throws(JournalError) -> [StoredCard] {
        let (condition, values): (String, [SQLValue]) =
            token.map { ("token = ? AND mode = ?", [.text($0), .text(mode.rawValue)]) }
            ?? ("mode = ?", [.text(mode.rawValue)])
        return try credentialRows(
            where: """
                id IN (SELECT id FROM credential WHERE state <> 'deleted' AND \(condition)
                    ORDER BY created_at DESC, id DESC LIMIT \(Limits.page.upperBound))
                """, values
        ).map(\.card)
    }

    /// The card that a transaction has stored.
    public func storedCard(with payment: TransactionID) throws(JournalError) -> StoredCard? {
        try credentialRows(
            where: "id = (SELECT credential FROM agreement WHERE payment = ?)", [.text(payment.text)]
        ).first?.card
    }

    /// The newest transactions of the same card before a look-up.
    public func earlier(than transaction: Transaction) throws(JournalError) -> [Transaction] {
        guard let token = transaction.card?.token, let number = transaction.number else { return [] }
        return try records(
            where: """
                card_token = ? AND mode = ? AND number < ? AND type <> 'loyalty'
                ORDER BY number DESC LIMIT \(Limits.earlier)
                """, [.text(token), .text(transaction.mode.rawValue), .integer(number)], .leaveOut
        ).map(\.transaction)
    }
}

/// What came of a further agreement.
public enum AgreementCreation: Equatable, Sendable {
    case created(Agreement)
    /// The same principal has used this key for the same request.
    case repeated(Agreement)
    case keyReused
    /// No stored card of that name.
    case unknown
    /// It is being deleted, or was.
    case deleted
}
