// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PSPAPI
public import PaymentValues
public import Transactions

/// What a charge rests on, as it is in this moment.
public struct ChargeBasis: Equatable, Sendable {
    /// With the token.
    public var stored: StoredCard
    public var agreement: Agreement
    /// Whose token it is: no other service is asked.
    public var service: AskedService?
    public var networkReference: String?
}

/// Why a stored card is not charged.
public struct ChargeRefusal: Error, Equatable, Sendable {
    public var code: ErrorCode
    public var field: String
    /// The most that the agreement allows.
    public var limit: Money?
    /// What has to end before.
    public var transaction: TransactionID?

    init(_ code: ErrorCode, _ field: String, limit: Money? = nil, after transaction: TransactionID? = nil) {
        (self.code, self.field, self.limit, self.transaction) = (code, field, limit, transaction)
    }
}

/// What came of `Journal.createCharge`.
public enum ChargeCreation: Equatable, Sendable {
    case created(number: Int64)
    case known(Creation)
    case refused(ChargeRefusal)
}

/// Charges of stored cards and the deletion of their tokens.
extension Journal {
    /// What a charge would rest on, by the rules S5 and S6 of `docs/shop/money.md`.
    public func chargeBasis(
        _ wish: ChargeOptions, _ amount: Money, mode: Mode, at time: Timestamp
    ) throws(JournalError) -> Result<ChargeBasis, ChargeRefusal> {
        guard let row = try credentialRow(wish.credential), row.card.mode == mode else {
            return .failure(ChargeRefusal(.storedCardUnknown, "credential"))
        }
        guard row.card.state == .active else { return .failure(ChargeRefusal(.storedCardDeleted, "credential")) }
        guard let agreement = row.card.agreements.first(where: { $0.id == wish.agreement }),
            wish.reason.agreementKind.map({ $0 == agreement.kind }) ?? true
        else { return .failure(ChargeRefusal(.agreementMissing, "agreement")) }
        if agreement.endedAt != nil {
            let code: ErrorCode = agreement.end == .stopped ? .agreementStopped : .agreementEnded
            return .failure(ChargeRefusal(code, "agreement"))
        }
        if let until = agreement.until, time >= until { return .failure(ChargeRefusal(.agreementEnded, "agreement")) }
        if let maximum = agreement.maximum {
            guard maximum.currency == amount.currency else {
                return .failure(ChargeRefusal(.amountCurrencyMismatch, "amount"))
            }
            guard amount.value <= maximum.value else {
                return .failure(ChargeRefusal(.agreementExceeded, "amount", limit: maximum))
            }
        }
        if let original = wish.of {
            let known = try record(original)?.transaction
            guard let known, known.mode == mode, known.type != .loyalty else {
                return .failure(ChargeRefusal(.transactionUnknown, "of"))
            }
        }
        return .success(
            ChargeBasis(
                stored: row.card, agreement: agreement, service: row.service, networkReference: row.networkReference))
    }

    /// Writes a charge down in state `created`, if what it rests on still stands.
    public func createCharge(_ new: NewTransaction) throws(JournalError) -> ChargeCreation {
        guard let wish = new.details?.charge else { throw .unknownTransaction }
        return try database.transaction { () throws(JournalError) in
            if let earlier = try earlier(
                owner: new.owner, idempotencyKey: new.idempotencyKey, requestHash: new.requestHash)
            {
                return .known(earlier)
            }
            switch try chargeBasis(wish, new.amount, mode: new.mode, at: new.at) {
            case .failure(let refusal): return .refused(refusal)
            case .success(let basis):
                if let open = try openCharge(under: basis.agreement) {
                    return .refused(ChargeRefusal(.orderUnresolved, "agreement", after: open))
                }
            }
            let number = try insert(new)
            try note(
                AuditEntry(
                    .credential, subject: wish.credential.rawValue,
                    detail: "charge \(new.id) under \(wish.agreement) \(wish.reason.rawValue) \(new.owner)", at: new.at)
            )
            return .created(number: number)
        }
    }

    /// The charge by which money may yet move under an agreement for one. One that cannot be read may be it.
    private func openCharge(under agreement: Agreement) throws(JournalError) -> TransactionID? {
        guard agreement.once == true else { return nil }
        let states = TransactionState.allCases.filter(\.blocksOrder).map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try database.query(
            """
            SELECT id FROM payment WHERE state IN (\(states)) AND type = 'charge' AND CASE WHEN json_valid(details)
                THEN json_extract(details, '$.charge.agreement') = ? ELSE 1 END LIMIT 1
            """, [.text(agreement.id.rawValue)]
        ) { (row) throws(JournalError) in try row.transactionID(0) }.first
    }

    /// Whether somebody may charge under an agreement without being an administrator: the tab that he has opened himself.
    ///
    /// - Throws: what the database throws, and `.damaged` for an agreement that is not what was written.
    public func hasOpened(_ id: AgreementID, _ owner: Principal) throws(JournalError) -> Bool {
        let own = try database.query(
            "SELECT 1 FROM agreement WHERE id = ? AND \(Journal.isOwned)", [.text(id.rawValue)] + owner.values
        ) { (row) throws(JournalError) in try row.integer(0) }
        guard !own.isEmpty else { return false }
        return try agreement(id)?.once == true
    }

    /// Writes `sent` down, if what the charge rests on still stands: from then on it may reach the payment service.
    ///
    /// - Returns: why it may not be sent; nothing was written then.
    public func beginCharge(_ id: TransactionID, _ change: StateChange) throws(JournalError) -> ErrorCode? {
        try database.transaction { () throws(JournalError) in
            guard let transaction = try record(id)?.transaction, let wish = transaction.details?.charge else {
                throw .unknownTransaction
            }
            let basis = try chargeBasis(wish, transaction.amount, mode: transaction.mode, at: change.at)
            if case .failure(let refusal) = basis { return refusal.code }
            try appendWithin([change], to: id)
            return nil
        }
    }

    // MARK: - Deletion

    /// No charge from here on; the payment service is to forget the token.
    ///
    /// - Returns: `nil` where there is no such card in this mode.
    public func beginDeletion(
        of id: StoredCardID, mode: Mode, by owner: Principal, at time: Timestamp
    ) throws(JournalError) -> StoredCard? {
        try database.transaction { () throws(JournalError) in
            guard let row = try credentialRow(id), row.card.mode == mode else { return nil }
            guard row.card.state == .active else { return row.card }
            try database.run(
                "UPDATE credential SET state = 'deleting', due = ? WHERE id = ?",
                [.integer(time.milliseconds), .text(id.rawValue)])
            try note(AuditEntry(.credential, subject: id.rawValue, detail: "deleting \(owner)", at: time))
            return try storedCard(id)
        }
    }

    /// Deletions that the payment service has not acknowledged.
    public func openDeletions() throws(JournalError) -> [TokenDeletion] {
        try credentialRows(where: "state = 'deleting'", []).compactMap { row in
            guard let token = row.card.card.token else { return nil }
            return TokenDeletion(
                request: TokenDeletionRequest(id: row.card.id, mode: row.card.mode, token: token), service: row.service,
                attempts: row.attempts, due: row.due ?? row.card.createdAt)
        }
    }

    public func planDeletion(of id: StoredCardID, attempts: Int, due: Timestamp) throws(JournalError) {
        try database.run(
            "UPDATE credential SET attempts = ?, due = ? WHERE id = ? AND state = 'deleting'",
            [.integer(Int64(attempts)), .integer(due.milliseconds), .text(id.rawValue)])
    }

    /// The payment service has forgotten the token: it is overwritten here, also where the card's transactions have it.
    /// What was agreed to stays, as proof.
    public func endDeletion(of id: StoredCardID, at time: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            guard let row = try credentialRow(id), row.card.state == .deleting else { return }
            if let token = row.card.card.token {
                try database.run(
                    """
                    UPDATE payment SET card = json_remove(card, '$.token') WHERE card_token = ? AND mode = ?
                        AND coalesce(\(Journal.serviceName(in: "service")), '') = ?
                        AND \(isSoundRow)
                    """, [.text(token), .text(row.card.mode.rawValue), .text(row.service?.serviceName ?? "")])
            }
            try database.run(
                "UPDATE credential SET state = 'deleted', token = '', ended_at = ?, due = NULL WHERE id = ?",
                [.integer(time.milliseconds), .text(id.rawValue)])
            try end("credential = ?", [.text(id.rawValue)], .deleted, "with \(id)", at: time)
            try note(AuditEntry(.credential, subject: id.rawValue, detail: "deleted", at: time))
        }
    }
}

/// A deletion that is to be acknowledged.
public struct TokenDeletion: Equatable, Sendable {
    public var request: TokenDeletionRequest
    public var service: AskedService?
    public var attempts: Int
    public var due: Timestamp
}
