// SPDX-License-Identifier: Apache-2.0
import Crypto
public import POSAPI
public import PaymentValues

/// What has become of a request with an idempotency key.
public enum KnownRequest: Equatable, Sendable {
    case recorded(Transaction)
    /// Its records were erased because their time was over.
    case erased
    /// The key has begun nothing, and cannot.
    case barred(KeyBar)
}

/// Why a key can begin nothing.
public enum KeyBar: String, CaseIterable, Sendable {
    /// The request was cancelled before it came.
    case cancelled
    /// The request came after the time at which it could begin at the latest.
    case late
}

/// What came of `Journal.bar`.
public enum BarOutcome: Equatable, Sendable {
    /// The key begins nothing from now on.
    case barred
    /// The key had begun this one before.
    case recorded(TransactionID)
    /// The key had begun one whose records were erased because their time was over.
    case erased
}

/// Idempotency keys outlive what they were sent for: a request that comes again after years must not be a new one. Of an
/// erased transaction only a digest of its key is left.
extension Journal {
    /// What somebody's idempotency key has become; `nil` for one that has never arrived.
    public func request(owner: Principal, idempotencyKey: String) throws(JournalError) -> KnownRequest? {
        let found = try records(
            where: "\(Journal.isOwned) AND idempotency_key = ?", owner.values + [.text(idempotencyKey)])
        if let record = found.first { return .recorded(record.transaction) }
        if try isSpent(owner: owner, idempotencyKey: idempotencyKey) { return .erased }
        return try keyBar(owner: owner, idempotencyKey: idempotencyKey).map { .barred($0) }
    }

    /// Makes a key one that can begin nothing, unless it has begun something: in one step, so that a start and this one cannot
    /// both have come first. Kept as long as transactions are.
    ///
    /// - Throws: what keeps the journal from being written.
    public func bar(
        owner: Principal, idempotencyKey: String, as reason: KeyBar, at time: Timestamp
    ) throws(JournalError) -> BarOutcome {
        try database.transaction { () throws(JournalError) in
            // A clock that stands years behind would have it erased as soon as it is right again.
            let time = max(time, try newestAuditTime() ?? time)
            // Written in any case: what the answer rests on is on the disk, and the beginning with it.
            try database.run(
                "INSERT INTO barred_key (digest, reason, at) VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE SET at = ?",
                [
                    .text(Journal.digest(uid: Int64(owner.uid), till: owner.till?.text ?? "", idempotencyKey)),
                    .text(reason.rawValue), .integer(time.milliseconds), .integer(time.milliseconds),
                ])
            switch try request(owner: owner, idempotencyKey: idempotencyKey) {
            case .recorded(let transaction): return .recorded(transaction.id)
            case .erased: return .erased
            case .barred, nil: return .barred
            }
        }
    }

    /// Why a key can begin nothing; `nil` where it can, or has.
    func keyBar(owner: Principal, idempotencyKey: String) throws(JournalError) -> KeyBar? {
        try database.query(
            "SELECT reason FROM barred_key WHERE digest = ?",
            [.text(Journal.digest(uid: Int64(owner.uid), till: owner.till?.text ?? "", idempotencyKey))]
        ) { (row) throws(JournalError) in
            // Whatever stands there, it is none that may begin.
            KeyBar(rawValue: try row.text(0)) ?? .cancelled
        }.first
    }

    func isSpent(owner: Principal, idempotencyKey: String) throws(JournalError) -> Bool {
        try database.query(
            "SELECT 1 FROM spent_key WHERE digest = ?",
            [.text(Journal.digest(uid: Int64(owner.uid), till: owner.till?.text ?? "", idempotencyKey))]
        ) { (row) throws(JournalError) in try row.integer(0) }.first != nil
    }

    /// Keys of operations are apart from those of transactions.
    func isSpent(operationOf owner: Principal, idempotencyKey: String) throws(JournalError) -> Bool {
        try isSpent(owner: owner, idempotencyKey: "operation\n" + idempotencyKey)
    }

    /// Keeps the keys of payments that are about to be erased.
    func keepKeys(of condition: String, _ values: [SQLValue]) throws(JournalError) {
        let keys = try database.query(
            """
            SELECT uid, till, idempotency_key FROM payment WHERE \(condition) UNION ALL
            SELECT uid, till, 'operation' || char(10) || idempotency_key FROM operation
                WHERE payment IN (SELECT id FROM payment WHERE \(condition))
            """, values + values
        ) { (row) throws(JournalError) in
            Journal.digest(uid: try row.integer(0), till: try row.text(1), try row.text(2))
        }
        for key in keys {
            try database.run("INSERT OR IGNORE INTO spent_key (digest) VALUES (?)", [.text(key)])
        }
    }

    /// Without a till as it was before there were tills.
    private static func digest(uid: Int64, till: String, _ key: String) -> String {
        let name = till.isEmpty ? "\(uid)" : "\(uid) \(till)"
        return LowerHex.text(SHA256.hash(data: Array("\(name)\n\(key)".utf8)).prefix(16))
    }
}
