// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// A signed profile as it came into force.
public struct JournalledProfile: Equatable, Sendable {
    public var serial: UInt64
    public var merchant: String
    /// Thumbprint of the key that signed it.
    public var key: String
    /// JWS in compact form.
    public var token: String
    public var appliedAt: Timestamp

    public init(serial: UInt64, merchant: String, key: String, token: String, appliedAt: Timestamp) {
        self.serial = serial
        self.merchant = merchant
        self.key = key
        self.token = token
        self.appliedAt = appliedAt
    }
}

extension Journal {
    /// Earlier profiles that are kept, to see what was in force when.
    private static let keptProfiles = 32

    /// Writes down that a profile comes into force.
    public func apply(_ profile: JournalledProfile) throws(JournalError) {
        guard let serial = Int64(exactly: profile.serial) else { throw .damaged }
        try database.transaction { () throws(JournalError) in
            try database.run(
                "INSERT INTO profile (serial, merchant, signed_by, token, applied_at) VALUES (?, ?, ?, ?, ?)",
                [
                    .integer(serial), .text(profile.merchant), .text(profile.key), .text(profile.token),
                    .integer(profile.appliedAt.milliseconds),
                ])
            try database.run(
                "DELETE FROM profile WHERE sequence <= ?", [.integer(database.lastRowID - Int64(Journal.keptProfiles))])
            try note(
                AuditEntry(
                    .profile, subject: profile.merchant, detail: "serial \(serial) applied, signed by \(profile.key)",
                    at: profile.appliedAt))
        }
    }

    /// The profile that came into force last under a key; `nil` where none ever did.
    public func profile(signedBy key: String) throws(JournalError) -> JournalledProfile? {
        try database.query(
            """
            SELECT serial, merchant, token, applied_at FROM profile WHERE signed_by = ? ORDER BY sequence DESC LIMIT 1
            """, [.text(key)]
        ) { (row) throws(JournalError) in
            guard let serial = UInt64(exactly: try row.integer(0)) else { throw JournalError.damaged }
            return JournalledProfile(
                serial: serial, merchant: try row.text(1), key: key, token: try row.text(2),
                appliedAt: Timestamp(milliseconds: try row.integer(3)))
        }.first
    }

    /// Writes an acceptance down.
    ///
    /// - Returns: `false` where these terms, under this key, have been accepted for the merchant before.
    public func accept(_ acceptance: TermsAcceptance) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            try database.run(
                """
                INSERT OR IGNORE INTO terms_acceptance
                    (merchant, version, hash, signed_by, accepted_at, accepted_by, uid, source)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(acceptance.merchant), .text(acceptance.version), .text(acceptance.hash),
                    .text(acceptance.key), .integer(acceptance.acceptedAt.milliseconds),
                    .text(acceptance.acceptedBy), .integer(Int64(acceptance.uid)), .text(acceptance.source.rawValue),
                ])
            guard database.changes == 1 else { return false }
            let who = "by \(acceptance.acceptedBy), uid \(acceptance.uid), \(acceptance.source.rawValue)"
            try note(
                AuditEntry(
                    .terms, subject: acceptance.merchant,
                    detail: "version \(acceptance.version) accepted \(who), hash \(acceptance.hash)"))
            return true
        }
    }

    /// The acceptance of a merchant's terms by their hash and the key they came under; `nil` where there is none.
    public func acceptance(
        merchant: String, hash: String, key: String
    ) throws(JournalError) -> TermsAcceptance? {
        try database.query(
            """
            SELECT version, accepted_at, accepted_by, uid, source FROM terms_acceptance
            WHERE merchant = ? AND hash = ? AND signed_by = ?
            """, [.text(merchant), .text(hash), .text(key)]
        ) { (row) throws(JournalError) in
            guard let uid = UInt32(exactly: try row.integer(3)),
                let source = TermsAcceptance.Source(rawValue: try row.text(4))
            else { throw JournalError.damaged }
            return TermsAcceptance(
                merchant: merchant, version: try row.text(0), hash: hash, key: key,
                acceptedAt: Timestamp(milliseconds: try row.integer(1)), acceptedBy: try row.text(2), uid: uid,
                source: source)
        }.first
    }
}
