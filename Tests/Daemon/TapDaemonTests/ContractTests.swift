// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PaymentValues
import Testing

@testable import TapDaemon

/// `docs/openapi.yaml` and the catalogue, held against each other. `Shop` holds what the daemon answers in any other test
/// here against it as well.
@Suite("The contract and the errors")
struct ContractTests {
    private let contract = WrittenContract.current

    @Test("The contract is read whole")
    func whole() {
        #expect(contract.operations.count == 60)
        #expect(contract.operations.allSatisfy { !$0.id.isEmpty && $0.statuses.contains { $0 < 300 } })
        #expect(contract.operations.first { $0.id == "getLane" }?.codes == ["lane.unknown"])
        #expect(contract.shared.contains("request.malformed") && contract.told.contains("read.timed_out"))
    }

    @Test("Every code of the contract is in the catalogue, and every code of the catalogue in the contract")
    func codes() {
        let written = contract.operations.reduce(contract.shared.union(contract.told).union(contract.gateway)) {
            $0.union($1.codes)
        }
        let known = Set(ErrorCode.allCases.map(\.rawValue))
        #expect(written.subtracting(known).isEmpty)
        #expect(known.subtracting(written).isEmpty)
    }

    @Test("A call describes the status of each of its errors, or it is one that any call may have")
    func statuses() {
        let shared = Set(contract.shared.compactMap { ErrorCode(rawValue: $0)?.entry.status })
        for operation in contract.operations {
            for code in operation.codes {
                let status = ErrorCode(rawValue: code)?.entry.status ?? 0
                #expect(
                    operation.statuses.contains(status) || shared.contains(status),
                    "\(operation.id): nothing describes \(status), \(code)")
            }
        }
    }

    @Test("A call describes no error status that none of its errors has")
    func reasons() {
        for operation in contract.operations {
            let possible = Set(
                operation.codes.union(contract.shared).compactMap { ErrorCode(rawValue: $0)?.entry.status })
            for status in operation.statuses where status >= 400 {
                #expect(possible.contains(status), "\(operation.id): no error of it has \(status)")
            }
        }
    }

    @Test(
        "Each call of the contract is a row of the daemon's table with the same parameters, and each row is such a call"
    )
    func rows() {
        func name(_ method: String, _ path: [String]) -> String {
            "\(method) /" + path.map { $0.hasPrefix("{") ? "{}" : $0 }.joined(separator: "/")
        }
        let written = Dictionary(
            uniqueKeysWithValues: contract.operations.map { (name($0.method, $0.path), $0.parameters) })
        let rows = Dictionary(
            Route.all.map { (name($0.method.rawValue, $0.path), $0.parameters) }, uniquingKeysWith: { $0.union($1) })
        #expect(Set(rows.keys).subtracting(written.keys) == [] && Set(written.keys).subtracting(rows.keys) == [])
        for (call, parameters) in written { #expect(rows[call] == parameters, "\(call)") }
    }

    /// docs/integrating/gateway.md and remote.md: what a program may ask that speaks for others, or for a backend.
    @Test(
        "A gateway hears what it passes on, a backend's program begins, looks up, cancels and confirms, and neither has more"
    )
    func callers() {
        func calls(of kind: Caller.Kind) -> Set<String> {
            Set(
                Route.all.filter { $0.callers.contains(kind) }.map { route in
                    "\(route.method.rawValue) \(route.path.joined(separator: "/"))\(route.key.map { "?\($0)" } ?? "")"
                })
        }
        let shown: Set = [
            "GET v1/status", "GET v1/lanes", "GET v1/lanes/{lane}", "GET v1/help", "GET v1/help/{topic}",
            "GET v1/openapi.yaml", "GET v1/events",
        ]
        #expect(calls(of: .gateway) == shown.union(["POST v1/refusals", "POST v1/displays"]))
        #expect(
            calls(of: .remote)
                == shown.union([
                    "GET v1/transactions?key", "POST v1/transactions", "DELETE v1/transactions",
                    "GET v1/transactions/{id}", "DELETE v1/transactions/{id}", "POST v1/transactions/{id}/confirmation",
                ]))
        #expect(
            calls(of: .program).subtracting(calls(of: .till)).allSatisfy { call in
                ["metrics", "v1/refusals", "v1/displays", "v1/sessions", "standing"].contains { call.contains($0) }
            })
    }
}
