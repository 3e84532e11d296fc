// SPDX-License-Identifier: Apache-2.0
/// The tables, and how older ones become these: docs/internals/decisions/0225.
struct Schema {
    /// What makes version `index + 1` of version `index`.
    let steps: [String]

    var version: Int { steps.count }

    static let current = Schema(steps: [String(decoding: PackageResources.schema_1_sql, as: UTF8.self)])

    /// What the journal notes about itself, by name: no part of a version, because nothing needs it to be there.
    static let meta =
        "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"

    /// Opens a day where none is open.
    static let openDay = """
        INSERT INTO business_day (id, label, state, opened_at)
            SELECT ?, '', 'open', ? WHERE NOT EXISTS (SELECT 1 FROM business_day WHERE state = 'open')
        """
}
