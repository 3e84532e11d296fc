// SPDX-License-Identifier: Apache-2.0
/// The step that came with stored cards: docs/internals/decisions/0052.
extension Schema {
    /// A stored card and what its holder has agreed to. Neither refers to a payment by key: payments are erased when their
    /// time is over, and agreements are the proof that outlives them. That an agreement is never altered, and that a token
    /// of one that is gone is nowhere, the tables see to.
    static let credentials = """
        CREATE TABLE credential (
            id TEXT PRIMARY KEY,
            token TEXT NOT NULL,
            mode TEXT NOT NULL,
            issuer TEXT NOT NULL,
            service TEXT,
            card TEXT NOT NULL,
            expires TEXT,
            network_reference TEXT,
            payment TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('active', 'deleting', 'deleted')),
            created_at INTEGER NOT NULL,
            ended_at INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            due INTEGER,
            CHECK (state <> 'deleted' OR (token = '' AND ended_at IS NOT NULL))
        ) STRICT;
        CREATE UNIQUE INDEX one_living_credential ON credential (mode, issuer, token) WHERE state <> 'deleted';
        CREATE INDEX credential_deletion ON credential (due) WHERE state = 'deleting';
        CREATE TRIGGER a_deleted_credential_stays_so BEFORE UPDATE OF state ON credential
            WHEN (OLD.state = 'deleted' AND NEW.state <> 'deleted') OR (OLD.state = 'deleting' AND NEW.state = 'active')
            BEGIN SELECT RAISE(ABORT, 'deleted'); END;
        CREATE TABLE agreement (
            id TEXT PRIMARY KEY,
            credential TEXT REFERENCES credential (id),
            payment TEXT,
            terms TEXT NOT NULL,
            hash TEXT NOT NULL,
            agreed_at INTEGER NOT NULL,
            uid INTEGER NOT NULL,
            till TEXT NOT NULL DEFAULT '',
            idempotency_key TEXT,
            request_hash TEXT,
            ended_at INTEGER,
            end TEXT CHECK (end IN ('ended', 'stopped', 'notGiven', 'deleted'))
        ) STRICT;
        CREATE INDEX agreement_by_credential ON agreement (credential);
        CREATE UNIQUE INDEX agreement_by_payment ON agreement (payment) WHERE payment IS NOT NULL;
        CREATE UNIQUE INDEX agreement_by_key ON agreement (uid, till, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE TRIGGER an_agreement_is_never_altered BEFORE UPDATE ON agreement
            WHEN NEW.terms IS NOT OLD.terms OR NEW.hash IS NOT OLD.hash OR NEW.agreed_at IS NOT OLD.agreed_at
                OR NEW.uid IS NOT OLD.uid OR NEW.till IS NOT OLD.till OR NEW.payment IS NOT OLD.payment
                OR (OLD.credential IS NOT NULL AND NEW.credential IS NOT OLD.credential) OR OLD.ended_at IS NOT NULL
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        CREATE TRIGGER an_agreement_is_never_removed BEFORE DELETE ON agreement
            WHEN OLD.ended_at IS NULL
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        """
}
