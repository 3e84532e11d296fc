// SPDX-License-Identifier: Apache-2.0
/// The step that came with tills behind a gateway: docs/internals/decisions/0035.
extension Schema {
    /// Whose a row is has two parts from here on. SQLite cannot alter what is unique in a table, so that two are made anew
    /// with their indexes and triggers; this is why foreign keys are off while the steps run. `of` refers to the name that
    /// the table has in the end.
    static let principals = """
        DROP TRIGGER only_what_is_stored_gets_into_a_batch;
        CREATE TABLE new_payment (
            id TEXT PRIMARY KEY,
            uid INTEGER NOT NULL,
            till TEXT NOT NULL DEFAULT '',
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
            \(paymentColumns.map { "\($0.name) \($0.type)" }.joined(separator: ",\n")),
            card_token TEXT GENERATED ALWAYS AS
                (CASE WHEN json_valid(card) THEN json_extract(card, '$.token') END) VIRTUAL,
            scheme TEXT GENERATED ALWAYS AS
                (CASE WHEN json_valid(card) THEN json_extract(card, '$.scheme') END) VIRTUAL,
            UNIQUE (uid, till, idempotency_key)
        ) STRICT;
        INSERT INTO new_payment
            SELECT id, uid, '', idempotency_key, request_hash, type, mode, lane, value, currency, order_reference, state,
                created_at, updated_at, \(paymentColumns.map(\.name).joined(separator: ", "))
            FROM payment ORDER BY rowid;
        DROP TABLE payment;
        ALTER TABLE new_payment RENAME TO payment;
        CREATE INDEX payment_by_order ON payment (order_reference) WHERE order_reference IS NOT NULL;
        CREATE INDEX payment_by_state ON payment (state);
        CREATE INDEX payment_unconfirmed ON payment (confirm_due)
            WHERE confirm_due IS NOT NULL AND confirmed_at IS NULL;
        CREATE UNIQUE INDEX payment_by_number ON payment (number);
        CREATE INDEX payment_by_change ON payment (change);
        CREATE INDEX payment_by_token ON payment (card_token, number) WHERE card_token IS NOT NULL;
        CREATE INDEX payment_by_of ON payment (of) WHERE of IS NOT NULL;
        CREATE INDEX payment_by_lane ON payment (lane, number);
        CREATE INDEX payment_by_creation ON payment (created_at);
        CREATE INDEX payment_by_till ON payment (till, number) WHERE till <> '';
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
        CREATE TRIGGER what_goes_on_is_no_open_item AFTER UPDATE OF state ON payment
            WHEN NEW.state IS NOT OLD.state
            BEGIN DELETE FROM open_item WHERE payment = NEW.id; END;
        CREATE TABLE new_operation (
            id TEXT PRIMARY KEY,
            payment TEXT NOT NULL REFERENCES payment (id),
            kind TEXT NOT NULL CHECK (kind IN ('capture', 'adjustment', 'extension', 'release', 'advice')),
            uid INTEGER NOT NULL,
            till TEXT NOT NULL DEFAULT '',
            idempotency_key TEXT NOT NULL,
            request_hash TEXT NOT NULL,
            value INTEGER NOT NULL CHECK (value >= 0),
            tip INTEGER NOT NULL DEFAULT 0 CHECK (tip >= 0),
            final INTEGER NOT NULL DEFAULT 0,
            currency TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('created', 'sent', 'unknown', 'done', 'refused')),
            request TEXT NOT NULL,
            result TEXT,
            error TEXT,
            attempts INTEGER NOT NULL DEFAULT 0,
            due INTEGER,
            attention TEXT,
            attention_since INTEGER,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            UNIQUE (uid, till, idempotency_key)
        ) STRICT;
        INSERT INTO new_operation
            SELECT id, payment, kind, uid, '', idempotency_key, request_hash, value, tip, final, currency, state, request,
                result, error, attempts, due, attention, attention_since, created_at, updated_at
            FROM operation ORDER BY rowid;
        DROP TABLE operation;
        ALTER TABLE new_operation RENAME TO operation;
        CREATE INDEX operation_by_payment ON operation (payment);
        CREATE INDEX operation_open ON operation (due) WHERE state IN ('created', 'sent', 'unknown');
        CREATE INDEX operation_attention ON operation (attention_since) WHERE attention IS NOT NULL;
        CREATE UNIQUE INDEX one_operation_at_a_time ON operation (payment)
            WHERE state IN ('created', 'sent', 'unknown') AND kind <> 'advice';
        CREATE TRIGGER an_operation_ends_once BEFORE UPDATE OF state ON operation
            WHEN OLD.state IN ('done', 'refused')
            BEGIN SELECT RAISE(ABORT, 'ended'); END;
        CREATE TRIGGER what_was_sent_is_not_unsent BEFORE UPDATE OF state ON operation
            WHEN NEW.state = 'created'
                OR (OLD.state = 'unknown' AND NEW.state = 'sent' AND NEW.attempts <= OLD.attempts)
            BEGIN SELECT RAISE(ABORT, 'sent'); END;
        ALTER TABLE business_day ADD COLUMN till TEXT NOT NULL DEFAULT '';
        DROP INDEX day_end_by_key;
        CREATE UNIQUE INDEX day_end_by_key ON business_day (uid, till, idempotency_key)
            WHERE idempotency_key IS NOT NULL;
        """

    /// Columns of `payment` that may be empty or came later, in their order.
    private static let paymentColumns: [(name: String, type: String)] = [
        ("card", "TEXT"), ("result", "TEXT"), ("error", "TEXT"), ("cancelled_by", "TEXT"), ("authorization", "TEXT"),
        ("reversal_reason", "TEXT"), ("reversal_attempts", "INTEGER"), ("reversal_due", "INTEGER"),
        ("details", "TEXT"), ("chip", "TEXT"), ("confirm_due", "INTEGER"), ("confirmed_at", "INTEGER"),
        ("message", "TEXT"), ("service", "TEXT"), ("settlement", "TEXT"), ("number", "INTEGER"),
        ("change", "INTEGER NOT NULL DEFAULT 0"), ("of", "TEXT REFERENCES payment (id)"), ("retry_of", "TEXT"),
        ("cashier", "TEXT"), ("capture", "TEXT CHECK (capture IN ('automatic', 'manual'))"),
        ("service_terms", "TEXT"), ("account", "TEXT"),
    ]
}
