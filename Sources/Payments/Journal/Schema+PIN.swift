// SPDX-License-Identifier: Apache-2.0
/// The step that came with PIN devices: docs/internals/decisions/0051.
extension Schema {
    /// Each entry of a PIN that somebody was asked for, and what came of it: nothing of the PIN, nothing of the card. One
    /// that waits ends with its payment, also where the daemon died meanwhile.
    static let pins = """
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
        """
}
