// SPDX-License-Identifier: Apache-2.0
/// The step that came with keys that are cancelled before their request comes: docs/internals/decisions/0186.
extension Schema {
    static let barredKeys = """
        CREATE TABLE barred_key (
            digest TEXT PRIMARY KEY,
            reason TEXT NOT NULL CHECK (reason IN ('cancelled', 'late')),
            at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
