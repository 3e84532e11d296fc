// SPDX-License-Identifier: Apache-2.0
/// The step of the schema by which closed days are held against the payment service's figures: docs/internals/decisions/0053.
extension Schema {
    /// What was sent stays as it was sent. The first figures that were given count, and go with the payments that they name. A sale is tried once more by one
    /// transaction at a time, whoever asks.
    static let reconciliation = """
        ALTER TABLE business_day ADD COLUMN service TEXT;
        ALTER TABLE business_day ADD COLUMN request TEXT;
        ALTER TABLE business_day ADD COLUMN elsewhere INTEGER;
        ALTER TABLE business_day ADD COLUMN resolution TEXT;
        CREATE INDEX day_to_be_asked_about ON business_day (due) WHERE due IS NOT NULL;
        CREATE TRIGGER figures_are_given_once BEFORE UPDATE ON business_day
            WHEN (OLD.figures IS NOT NULL AND NEW.figures IS NOT OLD.figures
                    AND (NEW.figures IS NOT NULL OR OLD.closed_at >= (SELECT erased_before FROM installation)))
                OR (OLD.request IS NOT NULL AND NEW.request IS NOT OLD.request)
                OR (OLD.resolution IS NOT NULL AND NEW.resolution IS NOT OLD.resolution)
            BEGIN SELECT RAISE(ABORT, 'given'); END;
        CREATE TRIGGER a_day_is_settled_once BEFORE UPDATE OF state ON business_day
            WHEN OLD.state = 'balanced' AND NEW.state <> 'balanced'
            BEGIN SELECT RAISE(ABORT, 'settled'); END;
        CREATE UNIQUE INDEX one_retry_at_a_time ON payment (retry_of)
            WHERE retry_of IS NOT NULL AND state NOT IN ('declined', 'cancelled', 'failed', 'reversed');
        """
}
