// SPDX-License-Identifier: Apache-2.0
/// The tables, and how older ones become these.
enum Schema {
    static var version: Int { steps.count }

    /// What the journal notes about itself, by name: no part of a version, because nothing needs it to be there.
    static let meta =
        "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"

    /// Statement by statement what makes version `index + 1` of version `index`.
    static let steps = [
        """
        CREATE TABLE installation (
            only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
            support TEXT NOT NULL,
            next_event INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE payment (
            id TEXT PRIMARY KEY,
            uid INTEGER NOT NULL,
            idempotency_key TEXT NOT NULL,
            request_hash TEXT NOT NULL,
            type TEXT NOT NULL,
            mode TEXT NOT NULL,
            lane TEXT NOT NULL,
            value INTEGER NOT NULL,
            currency TEXT NOT NULL,
            order_reference TEXT,
            state TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            card TEXT,
            result TEXT,
            error TEXT,
            cancelled_by TEXT,
            authorization TEXT,
            reversal_reason TEXT,
            reversal_attempts INTEGER,
            reversal_due INTEGER,
            UNIQUE (uid, idempotency_key)
        ) STRICT;
        CREATE INDEX payment_by_order ON payment (order_reference) WHERE order_reference IS NOT NULL;
        CREATE INDEX payment_by_state ON payment (state);
        CREATE TABLE state_change (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            payment TEXT NOT NULL REFERENCES payment (id),
            state TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX state_change_by_payment ON state_change (payment, sequence);
        CREATE TRIGGER state_change_is_never_altered BEFORE UPDATE ON state_change
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        CREATE TRIGGER state_change_is_never_removed BEFORE DELETE ON state_change
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        """,
        """
        ALTER TABLE payment ADD COLUMN details TEXT;
        ALTER TABLE payment ADD COLUMN chip TEXT;
        """,
        """
        CREATE TABLE audit (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            detail TEXT NOT NULL,
            hash TEXT NOT NULL
        ) STRICT;
        CREATE TRIGGER audit_is_never_altered BEFORE UPDATE ON audit
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        CREATE TABLE audit_statement (
            kind TEXT PRIMARY KEY,
            sequence INTEGER NOT NULL,
            token TEXT NOT NULL
        ) STRICT;
        ALTER TABLE installation ADD COLUMN erased_before INTEGER NOT NULL DEFAULT 0;
        DROP TRIGGER state_change_is_never_removed;
        CREATE TRIGGER state_change_is_never_removed BEFORE DELETE ON state_change
            WHEN OLD.at >= (SELECT erased_before FROM installation)
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        """,
        """
        ALTER TABLE payment ADD COLUMN confirm_due INTEGER;
        ALTER TABLE payment ADD COLUMN confirmed_at INTEGER;
        CREATE INDEX payment_unconfirmed ON payment (confirm_due)
            WHERE confirm_due IS NOT NULL AND confirmed_at IS NULL;
        CREATE TABLE online_contact (
            only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
            at INTEGER NOT NULL,
            boot TEXT NOT NULL,
            issuer TEXT NOT NULL
        ) STRICT;
        CREATE TABLE batch (
            id TEXT PRIMARY KEY,
            state TEXT NOT NULL CHECK (state IN ('open', 'reset', 'resolved')),
            issuer TEXT NOT NULL,
            count INTEGER NOT NULL,
            hash TEXT NOT NULL,
            signature TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            ended_at INTEGER,
            receipt TEXT
        ) STRICT;
        CREATE UNIQUE INDEX one_open_batch ON batch (state) WHERE state = 'open';
        CREATE TABLE queue_record (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            payment TEXT NOT NULL UNIQUE REFERENCES payment (id),
            record TEXT NOT NULL,
            issuer TEXT NOT NULL,
            stored_at INTEGER NOT NULL,
            batch TEXT REFERENCES batch (id),
            attempts INTEGER NOT NULL DEFAULT 0,
            due INTEGER NOT NULL
        ) STRICT;
        CREATE TRIGGER what_is_in_a_batch_stays_stored BEFORE UPDATE OF state ON payment
            WHEN NEW.state NOT IN ('stored', 'delivered') AND EXISTS
                (SELECT 1 FROM queue_record WHERE payment = OLD.id AND batch IS NOT NULL)
            BEGIN SELECT RAISE(ABORT, 'in a batch'); END;
        CREATE TRIGGER only_what_is_stored_gets_into_a_batch BEFORE UPDATE OF batch ON queue_record
            WHEN NEW.batch IS NOT NULL AND (SELECT state FROM payment WHERE id = NEW.payment) IS NOT 'stored'
            BEGIN SELECT RAISE(ABORT, 'not stored'); END;
        CREATE TRIGGER what_is_answered_leaves_the_queue AFTER UPDATE OF state ON payment
            WHEN NEW.state NOT IN ('stored', 'sent', 'unknown')
            BEGIN DELETE FROM queue_record WHERE payment = NEW.id; END;
        """,
        """
        CREATE TABLE profile (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            serial INTEGER NOT NULL,
            merchant TEXT NOT NULL,
            signed_by TEXT NOT NULL,
            token TEXT NOT NULL,
            applied_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE terms_acceptance (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            merchant TEXT NOT NULL,
            version TEXT NOT NULL,
            hash TEXT NOT NULL,
            signed_by TEXT NOT NULL,
            accepted_at INTEGER NOT NULL,
            accepted_by TEXT NOT NULL,
            uid INTEGER NOT NULL,
            source TEXT NOT NULL,
            UNIQUE (merchant, hash, signed_by)
        ) STRICT;
        CREATE TRIGGER terms_acceptance_is_never_altered BEFORE UPDATE ON terms_acceptance
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        CREATE TRIGGER terms_acceptance_is_never_removed BEFORE DELETE ON terms_acceptance
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        """,
        """
        ALTER TABLE payment ADD COLUMN message TEXT;
        ALTER TABLE payment ADD COLUMN service TEXT;
        ALTER TABLE payment ADD COLUMN settlement TEXT;
        CREATE TABLE open_item (
            payment TEXT PRIMARY KEY REFERENCES payment (id),
            reason TEXT NOT NULL,
            since INTEGER NOT NULL
        ) STRICT;
        CREATE TRIGGER what_goes_on_is_no_open_item AFTER UPDATE OF state ON payment
            WHEN NEW.state IS NOT OLD.state
            BEGIN DELETE FROM open_item WHERE payment = NEW.id; END;
        CREATE TABLE spent_key (digest TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        """,
        lists, operations, ledger, principals, credentials, reconciliation, pins,
        """
        CREATE TABLE digest (
            owner TEXT NOT NULL,
            row ANY NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (owner, row)
        ) STRICT, WITHOUT ROWID;
        """,
        standing, barredKeys, askingLanes,
    ]

    /// The first version whose digests are over all that the books have of a payment, and over rows that belong to none.
    static let digestsOfRows: Int64 = 14
}
