-- SPDX-License-Identifier: Apache-2.0
-- The journal's tables, version 1.

-- The installation, and what it has last heard of its payment service.
CREATE TABLE installation (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    support TEXT NOT NULL,
    next_event INTEGER NOT NULL,
    erased_before INTEGER NOT NULL DEFAULT 0,
    next_number INTEGER NOT NULL DEFAULT 1,
    next_change INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE online_contact (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    at INTEGER NOT NULL,
    boot TEXT NOT NULL,
    issuer TEXT NOT NULL
) STRICT;

-- A payment. SQLite may renumber implicit row ids and uses them again once the newest rows are gone: hence a number that is given once.
-- `change` grows with everything that is seen of a payment from outside. A card that cannot be read any more must not keep its row
-- from being written: hence `json_valid`.
CREATE TABLE payment (
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
    card TEXT,
    result TEXT,
    error TEXT,
    cancelled_by TEXT,
    authorization TEXT,
    reversal_reason TEXT,
    reversal_attempts INTEGER,
    reversal_due INTEGER,
    details TEXT,
    chip TEXT,
    confirm_due INTEGER,
    confirmed_at INTEGER,
    message TEXT,
    service TEXT,
    settlement TEXT,
    number INTEGER,
    change INTEGER NOT NULL DEFAULT 0,
    of TEXT REFERENCES payment (id),
    retry_of TEXT,
    cashier TEXT,
    capture TEXT CHECK (capture IN ('automatic', 'manual')),
    service_terms TEXT,
    account TEXT,
    card_token TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(card) THEN json_extract(card, '$.token') END) VIRTUAL,
    scheme TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(card) THEN json_extract(card, '$.scheme') END) VIRTUAL,
    UNIQUE (uid, till, idempotency_key)
) STRICT;
CREATE INDEX payment_by_order ON payment (order_reference) WHERE order_reference IS NOT NULL;
CREATE INDEX payment_by_state ON payment (state);
CREATE INDEX payment_unconfirmed ON payment (confirm_due) WHERE confirm_due IS NOT NULL AND confirmed_at IS NULL;
CREATE UNIQUE INDEX payment_by_number ON payment (number);
CREATE INDEX payment_by_change ON payment (change);
CREATE INDEX payment_by_token ON payment (card_token, number) WHERE card_token IS NOT NULL;
CREATE INDEX payment_by_of ON payment (of) WHERE of IS NOT NULL;
CREATE INDEX payment_by_lane ON payment (lane, number);
CREATE INDEX payment_by_creation ON payment (created_at);
CREATE INDEX payment_by_till ON payment (till, number) WHERE till <> '';
CREATE UNIQUE INDEX one_retry_at_a_time ON payment (retry_of)
    WHERE retry_of IS NOT NULL AND state NOT IN ('declined', 'cancelled', 'failed', 'reversed');

-- The states that it has had, numbered by payment.
CREATE TABLE state_change (
    payment TEXT NOT NULL REFERENCES payment (id),
    sequence INTEGER NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (payment, sequence)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER state_change_is_never_altered BEFORE UPDATE ON state_change BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER state_change_is_never_removed BEFORE DELETE ON state_change
    WHEN OLD.at >= (SELECT erased_before FROM installation)
    BEGIN SELECT RAISE(ABORT, 'append only'); END;

-- The audit chain, and its signed heads.
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_is_never_altered BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TABLE audit_statement (
    kind TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL,
    token TEXT NOT NULL
) STRICT;

-- What was approved offline, and the batches that it is forwarded in.
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

-- What a person has to look after.
CREATE TABLE open_item (
    payment TEXT PRIMARY KEY REFERENCES payment (id),
    reason TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT;
CREATE TRIGGER what_goes_on_is_no_open_item AFTER UPDATE OF state ON payment
    WHEN NEW.state IS NOT OLD.state
    BEGIN DELETE FROM open_item WHERE payment = NEW.id; END;

-- Keys whose payments were erased, and keys that were cancelled before their request came.
CREATE TABLE spent_key (digest TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE barred_key (
    digest TEXT PRIMARY KEY,
    reason TEXT NOT NULL CHECK (reason IN ('cancelled', 'late')),
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is done with an approved payment afterwards. That one operation runs at a time is decided by an index, so that it holds whoever
-- asks.
CREATE TABLE operation (
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
CREATE TRIGGER operation_change_is_never_altered BEFORE UPDATE ON operation_change BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER operation_change_is_never_removed BEFORE DELETE ON operation_change
    WHEN OLD.at >= (SELECT erased_before FROM installation)
    BEGIN SELECT RAISE(ABORT, 'append only'); END;

-- Days, and the payment service's figures that they are held against. What was sent stays as it was sent. The first figures that were given
-- count, and go with the payments that they name.
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
    due INTEGER,
    till TEXT NOT NULL DEFAULT '',
    service TEXT,
    request TEXT,
    elsewhere INTEGER,
    resolution TEXT
) STRICT;
CREATE UNIQUE INDEX one_open_day ON business_day (state) WHERE state = 'open';
CREATE UNIQUE INDEX day_end_by_key ON business_day (uid, till, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX day_to_be_asked_about ON business_day (due) WHERE due IS NOT NULL;
CREATE TRIGGER a_closed_day_keeps_its_report BEFORE UPDATE ON business_day
    WHEN OLD.state <> 'open' AND (NEW.state = 'open' OR NEW.report IS NOT OLD.report
        OR NEW.closed_at IS NOT OLD.closed_at OR NEW.label <> OLD.label OR NEW.number <> OLD.number)
    BEGIN SELECT RAISE(ABORT, 'closed'); END;
CREATE TRIGGER figures_are_given_once BEFORE UPDATE ON business_day
    WHEN (OLD.figures IS NOT NULL AND NEW.figures IS NOT OLD.figures
            AND (NEW.figures IS NOT NULL OR OLD.closed_at >= (SELECT erased_before FROM installation)))
        OR (OLD.request IS NOT NULL AND NEW.request IS NOT OLD.request)
        OR (OLD.resolution IS NOT NULL AND NEW.resolution IS NOT OLD.resolution)
    BEGIN SELECT RAISE(ABORT, 'given'); END;
CREATE TRIGGER a_day_is_settled_once BEFORE UPDATE OF state ON business_day
    WHEN OLD.state = 'balanced' AND NEW.state <> 'balanced'
    BEGIN SELECT RAISE(ABORT, 'settled'); END;

-- The ledger, which days close.
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

-- What the merchant has accepted, and the profiles that were applied.
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
CREATE TRIGGER terms_acceptance_is_never_altered BEFORE UPDATE ON terms_acceptance BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER terms_acceptance_is_never_removed BEFORE DELETE ON terms_acceptance BEGIN SELECT RAISE(ABORT, 'append only'); END;

-- A stored card and what its holder has agreed to. Neither refers to a payment by key: payments are erased when their time is over, and
-- agreements are the proof that outlives them.
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

-- Each entry of a PIN that somebody was asked for, and what came of it: nothing of the PIN, nothing of the card. One that waits ends with its
-- payment, also where the daemon died meanwhile.
CREATE TABLE pin_attempt (
    id TEXT PRIMARY KEY,
    payment TEXT NOT NULL REFERENCES payment (id),
    device TEXT NOT NULL,
    format INTEGER NOT NULL,
    key_set TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('asked', 'sent', 'cancelled', 'timedOut', 'failed')),
    asked_at INTEGER NOT NULL,
    ended_at INTEGER,
    CHECK ((state = 'asked') = (ended_at IS NULL))
) STRICT;
CREATE INDEX pin_attempt_by_payment ON pin_attempt (payment);
CREATE INDEX pin_attempt_awaited ON pin_attempt (id) WHERE state = 'asked';
CREATE TRIGGER an_entry_of_a_pin_ends_once BEFORE UPDATE ON pin_attempt
    WHEN OLD.state <> 'asked' OR NEW.payment IS NOT OLD.payment OR NEW.device IS NOT OLD.device
    BEGIN SELECT RAISE(ABORT, 'ended'); END;
CREATE TRIGGER an_entry_of_a_pin_ends_with_its_payment AFTER UPDATE OF state ON payment
    WHEN NEW.state <> 'sealed'
    BEGIN UPDATE pin_attempt SET state = 'failed', ended_at = NEW.updated_at
        WHERE payment = NEW.id AND state = 'asked'; END;

-- Lanes that stand alone, and what a machine has said of a tap. Money is in no column: it is in the payment and its rows.
CREATE TABLE standing_lane (
    lane TEXT PRIMARY KEY,
    tap INTEGER NOT NULL DEFAULT 0,
    armed INTEGER NOT NULL DEFAULT 1 CHECK (armed IN (0, 1)),
    value INTEGER
) STRICT;
CREATE TRIGGER a_tap_has_one_number BEFORE UPDATE OF tap ON standing_lane
    WHEN NEW.tap < OLD.tap
    BEGIN SELECT RAISE(ABORT, 'given'); END;
CREATE TABLE session (
    payment TEXT PRIMARY KEY REFERENCES payment (id),
    tap INTEGER NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('sale', 'hold', 'ask')),
    reference TEXT,
    release_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_by_reference ON session (reference) WHERE reference IS NOT NULL;
CREATE TRIGGER a_session_is_claimed_once BEFORE UPDATE ON session
    WHEN NEW.payment IS NOT OLD.payment OR NEW.tap IS NOT OLD.tap OR NEW.mode IS NOT OLD.mode
        OR (OLD.reference IS NOT NULL AND NEW.reference IS NOT OLD.reference)
    BEGIN SELECT RAISE(ABORT, 'claimed'); END;

-- Digests of rows that belong to no payment.
CREATE TABLE digest (
    owner TEXT NOT NULL,
    row ANY NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (owner, row)
) STRICT, WITHOUT ROWID;
