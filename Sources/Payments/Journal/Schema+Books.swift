// SPDX-License-Identifier: Apache-2.0
/// Steps of the schema that came with the books: docs/internals/decisions/0024.
extension Schema {
    /// What lists and links need. SQLite may renumber implicit row ids and uses them again once the newest rows are gone:
    /// hence a number that is given once. `change` grows with everything that is seen of a payment from outside.
    ///
    /// A card that cannot be read any more must not keep its row from being written: hence `json_valid`.
    static let lists = """
        ALTER TABLE installation ADD COLUMN next_number INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE installation ADD COLUMN next_change INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE payment ADD COLUMN number INTEGER;
        ALTER TABLE payment ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
        UPDATE payment SET number = rowid, change = coalesce(
            (SELECT max(sequence) FROM state_change WHERE state_change.payment = payment.id), 0);
        UPDATE installation SET next_number = 1 + coalesce((SELECT max(number) FROM payment), 0),
            next_change = 1 + coalesce((SELECT max(sequence) FROM state_change), 0);
        CREATE UNIQUE INDEX payment_by_number ON payment (number);
        CREATE INDEX payment_by_change ON payment (change);
        ALTER TABLE payment ADD COLUMN of TEXT REFERENCES payment (id);
        ALTER TABLE payment ADD COLUMN retry_of TEXT;
        ALTER TABLE payment ADD COLUMN cashier TEXT;
        ALTER TABLE payment ADD COLUMN capture TEXT CHECK (capture IN ('automatic', 'manual'));
        UPDATE payment SET capture = CASE
            WHEN json_valid(details) AND (json_extract(details, '$.amountStatus') IS 'preauthorized'
                OR coalesce(json_extract(details, '$.description.kind'), '') IN
                    ('preauthorization', 'preauthorizationAmount')) THEN 'manual'
            ELSE 'automatic' END WHERE type = 'purchase';
        ALTER TABLE payment ADD COLUMN service_terms TEXT;
        ALTER TABLE payment ADD COLUMN account TEXT;
        ALTER TABLE payment ADD COLUMN card_token TEXT GENERATED ALWAYS AS
            (CASE WHEN json_valid(card) THEN json_extract(card, '$.token') END) VIRTUAL;
        ALTER TABLE payment ADD COLUMN scheme TEXT GENERATED ALWAYS AS
            (CASE WHEN json_valid(card) THEN json_extract(card, '$.scheme') END) VIRTUAL;
        CREATE INDEX payment_by_token ON payment (card_token, number) WHERE card_token IS NOT NULL;
        CREATE INDEX payment_by_of ON payment (of) WHERE of IS NOT NULL;
        CREATE INDEX payment_by_lane ON payment (lane, number);
        CREATE INDEX payment_by_creation ON payment (created_at);
        """

    /// What is done with an approved payment afterwards. That one operation runs at a time is decided by an index, so that
    /// it holds whoever asks.
    static let operations = """
        CREATE TABLE operation (
            id TEXT PRIMARY KEY,
            payment TEXT NOT NULL REFERENCES payment (id),
            kind TEXT NOT NULL CHECK (kind IN ('capture', 'adjustment', 'extension', 'release', 'advice')),
            uid INTEGER NOT NULL,
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
            UNIQUE (uid, idempotency_key)
        ) STRICT;
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
        CREATE TABLE operation_change (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            operation TEXT NOT NULL REFERENCES operation (id),
            state TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX operation_change_by_operation ON operation_change (operation, sequence);
        CREATE TRIGGER operation_change_is_never_altered BEFORE UPDATE ON operation_change
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        CREATE TRIGGER operation_change_is_never_removed BEFORE DELETE ON operation_change
            WHEN OLD.at >= (SELECT erased_before FROM installation)
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        """

    /// The ledger, and the days that it is closed by. What was approved before gets its rows in a closed day, so that the
    /// first day end is of its own day.
    static let ledger = """
        CREATE TABLE business_day (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            label TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'balanced', 'differs', 'unconfirmed')),
            opened_at INTEGER NOT NULL,
            closed_at INTEGER,
            uid INTEGER,
            idempotency_key TEXT,
            request_hash TEXT,
            report TEXT,
            figures TEXT,
            attempts INTEGER NOT NULL DEFAULT 0,
            due INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX one_open_day ON business_day (state) WHERE state = 'open';
        CREATE UNIQUE INDEX day_end_by_key ON business_day (uid, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE TRIGGER a_closed_day_keeps_its_report BEFORE UPDATE ON business_day
            WHEN OLD.state <> 'open' AND (NEW.state = 'open' OR NEW.report IS NOT OLD.report
                OR NEW.closed_at IS NOT OLD.closed_at OR NEW.label <> OLD.label OR NEW.number <> OLD.number)
            BEGIN SELECT RAISE(ABORT, 'closed'); END;
        CREATE TABLE ledger (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            payment TEXT NOT NULL,
            operation TEXT NOT NULL DEFAULT '',
            entry TEXT NOT NULL CHECK (entry IN ('authorised', 'adjusted', 'captured', 'released', 'expired', 'reversed',
                'refunded', 'delivered', 'corrected')),
            hold INTEGER NOT NULL DEFAULT 0,
            money INTEGER NOT NULL DEFAULT 0,
            tip INTEGER NOT NULL DEFAULT 0,
            currency TEXT NOT NULL,
            mode TEXT NOT NULL,
            scheme TEXT,
            type TEXT NOT NULL,
            lane TEXT NOT NULL,
            cashier TEXT,
            day INTEGER REFERENCES business_day (number),
            UNIQUE (payment, operation, entry)
        ) STRICT;
        CREATE INDEX ledger_by_day ON ledger (day);
        CREATE TRIGGER the_ledger_is_never_altered BEFORE UPDATE ON ledger
            WHEN NOT (OLD.day IS NULL AND NEW.day IS NOT NULL AND NEW.sequence = OLD.sequence AND NEW.at = OLD.at
                AND NEW.payment = OLD.payment AND NEW.operation = OLD.operation AND NEW.entry = OLD.entry
                AND NEW.hold = OLD.hold AND NEW.money = OLD.money AND NEW.tip = OLD.tip
                AND NEW.currency = OLD.currency AND NEW.mode = OLD.mode AND NEW.type = OLD.type
                AND NEW.lane = OLD.lane AND NEW.scheme IS OLD.scheme AND NEW.cashier IS OLD.cashier)
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        CREATE TRIGGER the_ledger_is_never_removed BEFORE DELETE ON ledger
            WHEN OLD.at >= (SELECT erased_before FROM installation) OR OLD.day IS NULL
            BEGIN SELECT RAISE(ABORT, 'append only'); END;
        INSERT INTO business_day (id, label, state, opened_at, closed_at)
            SELECT lower(hex(randomblob(16))), 'before this version', 'closed', first, last
            FROM (SELECT min(created_at) AS first, max(updated_at) AS last FROM payment) WHERE first IS NOT NULL;
        INSERT INTO ledger (at, payment, entry, hold, money, currency, mode, scheme, type, lane, day)
            SELECT updated_at, id,
                CASE WHEN type = 'refund' THEN 'refunded' WHEN capture = 'manual' THEN 'authorised' ELSE 'captured' END,
                CASE WHEN type = 'purchase' AND capture = 'manual' THEN approved ELSE 0 END,
                CASE WHEN type = 'refund' THEN -approved WHEN capture = 'manual' THEN 0 ELSE approved END,
                currency, mode, scheme, type, lane, (SELECT max(number) FROM business_day)
            FROM (SELECT *, CASE WHEN json_valid(result)
                    THEN coalesce(json_extract(result, '$.amountApproved.value'), value) ELSE value END AS approved
                FROM payment WHERE state = 'approved' AND type IN ('purchase', 'refund')) ORDER BY updated_at, number;
        INSERT INTO ledger (at, payment, entry, currency, mode, scheme, type, lane, day)
            SELECT updated_at, id, 'delivered', currency, mode, scheme, type, lane,
                (SELECT max(number) FROM business_day)
            FROM payment WHERE state = 'delivered' AND type IN ('purchase', 'refund') ORDER BY updated_at, number;
        """

    /// Opens a day where none is open.
    static let openDay = """
        INSERT INTO business_day (id, label, state, opened_at)
            SELECT ?, '', 'open', ? WHERE NOT EXISTS (SELECT 1 FROM business_day WHERE state = 'open')
        """
}
