// SPDX-License-Identifier: Apache-2.0
/// Why the database did not do what it was asked for, by what the caller can do about it. Never a message of the server: its
/// DETAIL shows values.
public enum DatabaseError: Error, Equatable, Sendable {
    /// Rolled back: a row with the same key is there (SQLSTATE 23505). Read it.
    case duplicate(constraint: String)
    /// Rolled back, because others were in the way: the same again may succeed (40001, 40P01, 55P03, 57014). Of a lock that
    /// was not got in time, and of a statement that took too long, it was tried once; of the others several times.
    case again(state: String)
    /// Whether it was carried out is not known, or not whether it lasts: the connection was lost, the server is going down, or somebody
    /// has cancelled the wait for its standby. Read by key.
    case unknown
    /// Rolled back, and it will be again: the statement or its values are wrong.
    case refused(state: String)
    /// Nothing was sent, for no server could be reached.
    case unreachable
    /// Nothing was sent, for too much waits already.
    case busy
}

extension DatabaseError {
    /// libpq's manual, appendix A of PostgreSQL 15: class 08 connection, 57P01 to 57P03 and 57P05 the server ends the session,
    /// class 40 rollback, 55P03 a lock that was not got in time, 57014 a statement that took too long.
    init(state: String, constraint: String?) {
        switch state {
        case "23505": self = .duplicate(constraint: constraint ?? "")
        case "40001", "40P01", "55P03", "57014", "25P03": self = .again(state: state)
        case "53300", "53400": self = .unreachable
        case "57P01", "57P02", "57P03", "57P05", "40003", "": self = .unknown
        default: self = state.hasPrefix("08") ? .unknown : .refused(state: state)
        }
    }
}
