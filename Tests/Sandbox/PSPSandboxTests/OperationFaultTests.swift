// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

/// Operations that get no proper answer: what a daemon sees, and what the books say.
struct OperationFaultTests {
    @Test func `92 is lost before it is carried out, and its repetition is declined`() async throws {
        try await SandboxBench.run { bench in
            let (id, refund) = (try await bench.approved(5_000, .sale), TransactionID())
            await #expect(throws: HTTPClientError.self) { try await bench.refund(1_092, of: id, id: refund) }
            #expect(try await bench.operation(try #require(OperationID(refund.text))) == nil)
            #expect(try await bench.refund(1_092, of: id, id: refund).reason == .issuer)
            #expect(try await bench.entry(id).refunded == 0)
        }
    }

    @Test func `93 is an HTTP 500, and its repetition is carried out`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(5_000)
            let request = CaptureRequest(
                id: OperationID(), mode: .test, amount: try SandboxBench.euro(1_093), final: false)
            let first = try await bench.operate("captures", on: id, request, key: request.id.text)
            #expect(first.status == 500)
            #expect(try await bench.operation(request.id) == nil)
            #expect(try await bench.capture(1_093, of: id, final: false, id: request.id).outcome == .approved)
            #expect(try await bench.entry(id).captured == 1_093)
        }
    }

    @Test("Carried out, and the answer is lost: a question tells it", arguments: [Int64](1_095...1_096))
    func lostAnswer(_ amount: Int64) async throws {
        try await SandboxBench.run { bench in
            let (id, operation) = (try await bench.approved(5_000), OperationID())
            await #expect(throws: (any Error).self) {
                try await bench.capture(amount, of: id, final: false, id: operation)
            }
            #expect(try await bench.ledger().unseenOperations == [operation])
            #expect(try await bench.operation(operation)?.outcome == .approved)
            #expect(try await bench.ledger().unseenOperations == [])
            #expect(try await bench.entry(id).captured == amount)
        }
    }

    @Test func `98 is pending for ever and takes nothing`() async throws {
        try await SandboxBench.run { bench in
            let (id, operation) = (try await bench.approved(5_000), OperationID())
            #expect(try await bench.capture(1_098, of: id, id: operation).outcome == .pending)
            #expect(try await bench.operation(operation)?.outcome == .pending)
            #expect(try await bench.entry(id).captured == 0)
        }
    }

    @Test func `99 is pending until its time, and then done`() async throws {
        let clock = Clock()
        try await SandboxBench.run(timing: SandboxTiming(late: .seconds(180)), now: { clock.now }) { bench in
            let (id, operation) = (try await bench.approved(5_000), OperationID())
            #expect(try await bench.capture(1_099, of: id, id: operation).outcome == .pending)
            clock.advance(179)
            #expect(try await bench.operation(operation)?.outcome == .pending)
            clock.advance(2)
            #expect(try await bench.operation(operation)?.outcome == .approved)
        }
    }

    @Test func `85 to 89 are lies: id, amount, a part, the account, and the opposite afterwards`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(90_000)
            func capture(_ amount: Int64) async throws -> (OperationID, AdapterOperationAnswer) {
                let operation = OperationID()
                return (operation, try await bench.capture(amount, of: id, final: false, id: operation))
            }
            let (first, otherID) = try await capture(1_085)
            #expect(otherID.id != first)
            #expect(try await capture(1_086).1.amountDone?.value == 1_087)
            #expect(try await capture(1_087).1.outcome == .partial)
            let (_, otherAccount) = try await capture(1_088)
            #expect(try await otherAccount.account?.captured == bench.entry(id).captured + 1)
            let (last, contradiction) = try await capture(1_089)
            #expect(contradiction.outcome == .approved)
            #expect(try await bench.operation(last)?.outcome == .declined)
            #expect(try await bench.entry(id).captured == 1_085 + 1_086 + 1_087 + 1_088 + 1_089)
        }
    }
}
