/// The tables, and how older ones become these.
enum Schema {
    static var version: Int { steps.count }

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
    ]
}
