// SPDX-License-Identifier: Apache-2.0
import CPQ

/// One connection. It belongs to one thread.
///
/// Each `unsafe` is one call of libpq with a connection that this type has made and ends, or with a result that the same
/// function clears; no pointer that libpq gives is kept after the line. What libpq is given to write to lives as long as the connection.
@safe final class Connection {
    private let handle: OpaquePointer
    /// Not 0 once the server has reported a commit that its standby may not have. It goes with the connection.
    private let hasWarned: UnsafeMutablePointer<Int32>
    private var prepared: [String: String] = [:]
    private var lastName = 0

    /// Limits of PostgreSQL's own, in milliseconds: nothing waits longer than a till does.
    private static let limits = """
        set statement_timeout = 4000; set lock_timeout = 2000; set idle_in_transaction_session_timeout = 5000;
        set client_min_messages = warning; set synchronous_commit = on
        """

    /// - Parameter address: libpq's own words, such as `host=/run/postgresql dbname=switch`.
    /// - Throws: `.unreachable`.
    init(_ address: String) throws(DatabaseError) {
        // A machine that lost its power says nothing: without signs of life an answer of it would be waited for for hours.
        let words =
            address + """
                 connect_timeout=3 tcp_user_timeout=5000 keepalives_idle=3 keepalives_interval=2 keepalives_count=3 \
                application_name=nfc-tap-switch
                """
        let made = unsafe PQconnectdb(words)
        guard let made = unsafe made else { throw .unreachable }
        unsafe handle = made
        unsafe hasWarned = .allocate(capacity: 1)
        unsafe hasWarned.initialize(to: 0)
        unsafe cpq_note_warnings(handle, hasWarned)
        do throws(DatabaseError) {
            guard unsafe PQstatus(handle) == CONNECTION_OK else { throw .unreachable }
            try script(Self.limits)
        } catch {
            end()
            throw .unreachable
        }
        // Of a connection's begin, which commits nothing.
        unsafe hasWarned.pointee = 0
    }

    func end() {
        unsafe PQfinish(handle)
        unsafe hasWarned.deallocate()
    }

    /// Whether the server is still there, as far as this side has heard.
    var isAlive: Bool {
        // First what the server said before it left, then that it left.
        for _ in 0..<2 where unsafe PQconsumeInput(handle) != 1 { return false }
        return unsafe PQstatus(handle) == CONNECTION_OK
    }

    /// Statements without values, as one transaction unless they say otherwise.
    func script(_ sql: String) throws(DatabaseError) {
        let result = unsafe PQexec(handle, sql)
        defer { unsafe PQclear(result) }
        _ = try unsafe rows(result)
    }

    /// Sends all of them in one go. Outside a transaction they are one by themselves: all or nothing.
    func pipeline(_ calls: [Call]) throws(DatabaseError) -> [Rows] {
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw .unknown }
        // Fails only where the connection is lost, which the statements have told of before.
        defer { _ = unsafe PQexitPipelineMode(handle) }
        var steps: [Step] = []
        var fresh: [String: String] = [:]
        for call in calls {
            let name = prepared[call.sql] ?? fresh[call.sql] ?? "s\(lastName)"
            if prepared[call.sql] == nil, fresh[call.sql] == nil {
                lastName += 1
                fresh[call.sql] = name
                guard unsafe PQsendPrepare(handle, name, call.sql, 0, nil) == 1 else { throw .unknown }
                steps.append(.preparation(of: call.sql, name))
            }
            try send(name, call.bound)
            steps.append(.call)
        }
        guard unsafe PQpipelineSync(handle) == 1 else { throw .unknown }
        return try collect(steps)
    }

    private enum Step {
        case preparation(of: String, String)
        case call
    }

    private func send(_ name: String, _ values: [DatabaseValue]) throws(DatabaseError) {
        var texts: [CChar] = []
        var begins: [Int32] = []
        for value in values {
            guard let text = value.encoded else {
                begins.append(-1)
                continue
            }
            begins.append(Int32(clamping: texts.count))
            texts += text.utf8CString
        }
        let sent = unsafe cpq_send_prepared(handle, name, Int32(clamping: values.count), texts, begins)
        guard sent == 1 else { throw .unknown }
    }

    /// Takes everything up to the end of the pipeline, so that the connection works on after an error.
    private func collect(_ steps: [Step]) throws(DatabaseError) -> [Rows] {
        var collected: [Rows] = []
        var failure: DatabaseError?
        for step in steps {
            while let result = unsafe PQgetResult(handle) {
                defer { unsafe PQclear(result) }
                guard failure == nil else { continue }
                do throws(DatabaseError) {
                    let rows = try unsafe rows(result)
                    switch step {
                    case .call: collected.append(rows)
                    // It outlives a transaction that is rolled back.
                    case .preparation(let sql, let name): prepared[sql] = name
                    }
                } catch {
                    failure = error
                }
            }
            if unsafe PQstatus(handle) != CONNECTION_OK { throw .unknown }
        }
        // An error at the end stands before the sync, with nothing between them.
        for _ in 0..<4 {
            guard let end = unsafe PQgetResult(handle) else { continue }
            let status = unsafe PQresultStatus(end)
            defer { unsafe PQclear(end) }
            if status == PGRES_PIPELINE_SYNC {
                if let failure { throw failure }
                guard unsafe hasWarned.pointee == 0 else { throw .unknown }
                return collected
            }
            // Constraints that are checked when the transaction ends fail here.
            do throws(DatabaseError) { _ = try unsafe rows(end) } catch { failure = failure ?? error }
        }
        throw .unknown
    }

    private func rows(_ result: OpaquePointer?) throws(DatabaseError) -> Rows {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
        default:
            let state = unsafe cpq_sql_state(result).map { unsafe String(cString: $0) }
            let constraint = unsafe cpq_constraint(result).map { unsafe String(cString: $0) }
            throw DatabaseError(state: state ?? "", constraint: constraint)
        }
        let columns = unsafe PQnfields(result)
        let names = (0..<columns).map { column in
            unsafe PQfname(result, column).map { unsafe String(cString: $0) } ?? ""
        }
        let rows = (0..<(unsafe PQntuples(result))).map { row in
            Row(
                names: names,
                values: (0..<columns).map { column -> String? in
                    guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
                    return unsafe PQgetvalue(result, row, column).map { unsafe String(cString: $0) }
                })
        }
        let changed = unsafe PQcmdTuples(result).map { unsafe String(cString: $0) }.flatMap { Int($0) } ?? 0
        return Rows(rows: rows, changed: changed)
    }
}
