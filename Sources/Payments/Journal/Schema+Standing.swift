// SPDX-License-Identifier: Apache-2.0
/// The step that came with lanes that stand alone: docs/internals/decisions/0168.
extension Schema {
    /// What a machine has said of a tap, and how each such lane stands. Money is in no column: it is in the payment and its rows.
    static let standing = """
        CREATE TABLE standing_lane (
            lane TEXT PRIMARY KEY,
            tap INTEGER NOT NULL DEFAULT 0,
            armed INTEGER NOT NULL DEFAULT 1 CHECK (armed IN (0, 1)),
            value INTEGER
        ) STRICT;
        CREATE TABLE session (
            payment TEXT PRIMARY KEY REFERENCES payment (id),
            tap INTEGER NOT NULL,
            mode TEXT NOT NULL CHECK (mode IN ('sale', 'hold')),
            reference TEXT,
            release_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX session_by_reference ON session (reference) WHERE reference IS NOT NULL;
        CREATE TRIGGER a_session_is_claimed_once BEFORE UPDATE ON session
            WHEN NEW.payment IS NOT OLD.payment OR NEW.tap IS NOT OLD.tap OR NEW.mode IS NOT OLD.mode
                OR (OLD.reference IS NOT NULL AND NEW.reference IS NOT OLD.reference)
            BEGIN SELECT RAISE(ABORT, 'claimed'); END;
        CREATE TRIGGER a_tap_has_one_number BEFORE UPDATE OF tap ON standing_lane
            WHEN NEW.tap < OLD.tap
            BEGIN SELECT RAISE(ABORT, 'given'); END;
        """

    /// The step that came with reads that are kept and offered: docs/internals/decisions/0205. SQLite has no other way to another
    /// check than another table.
    static let askingLanes = """
        ALTER TABLE session RENAME TO former_session;
        CREATE TABLE session (
            payment TEXT PRIMARY KEY REFERENCES payment (id),
            tap INTEGER NOT NULL,
            mode TEXT NOT NULL CHECK (mode IN ('sale', 'hold', 'ask')),
            reference TEXT,
            release_at INTEGER NOT NULL
        ) STRICT;
        INSERT INTO session SELECT payment, tap, mode, reference, release_at FROM former_session;
        DROP TABLE former_session;
        CREATE INDEX session_by_reference ON session (reference) WHERE reference IS NOT NULL;
        CREATE TRIGGER a_session_is_claimed_once BEFORE UPDATE ON session
            WHEN NEW.payment IS NOT OLD.payment OR NEW.tap IS NOT OLD.tap OR NEW.mode IS NOT OLD.mode
                OR (OLD.reference IS NOT NULL AND NEW.reference IS NOT OLD.reference)
            BEGIN SELECT RAISE(ABORT, 'claimed'); END;
        """
}
