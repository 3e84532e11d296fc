// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

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
}
