// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Envelope
import LocalHTTP
import PINDeviceAPI
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

/// What an adapter owes where an issuer wants the PIN with its answer: never two authorisations that stand.
struct ContinuationTests {
    /// A sale whose terminal has a PIN device, with the block of a PIN that was entered for it.
    private func asked(
        _ minorUnits: Int64, pin: [UInt8] = OpenedRecord.testPIN
    ) throws -> (sale: AuthorizationRequest, entries: [ContinuationRequest]) {
        var sale = try SandboxBench.request(minorUnits)
        sale.features = [.singleTap]
        let number = try OpenedRecord(of: sale, with: try TestRecipient.privateKey(), at: .now).digits
        let entries = try (1...4).map { counter in
            let keySet = TestPINKeys.KeySet.aes
            let serial = keySet.serial(UInt32(counter))
            let key = try #require(keySet.pinKey(serial))
            let block = try #require(PINBlock.sealed(pin: pin, account: number, format: .four, key: key))
            return ContinuationRequest(
                authorization: sale,
                pin: OnlinePIN(
                    attempt: PINAttemptID(), format: 4, keySet: keySet.rawValue, algorithm: keySet.algorithm,
                    ksn: Hex.string(serial), block: Hex.string(block), device: .init(serial: "SIM-1")))
        }
        return (sale, entries)
    }

    private func proceed(
        _ bench: SandboxBench, _ request: ContinuationRequest, of id: TransactionID? = nil
    ) async throws -> (status: Int, answer: AuthorizationAnswer?) {
        let answer = try await bench.post(
            "/v1/authorizations/\(id ?? request.authorization.id)/continuations", WireJSON.encode(request),
            key: request.id.text)
        return (answer.status, try? WireJSON.decode(AuthorizationAnswer.self, from: answer.body))
    }

    @Test(arguments: [(1_065, "65"), (1_070, "70")])
    func `the PIN comes with the same read, is booked once, and the first answer stays`(
        amount: Int64, code: String
    ) async throws {
        let (sale, entries) = try asked(amount)
        try await SandboxBench.run { bench in
            let first = try await bench.answer(to: sale)
            #expect(first.outcome == .declined && first.responseCode == code)
            #expect(first.action == .pinRequired && first.singleTap == true)
            let second = try await proceed(bench, entries[0])
            #expect(second.status == 200 && second.answer?.outcome == .approved)
            #expect(try await proceed(bench, entries[0]).answer == second.answer)
            // Nothing goes on from an approval.
            #expect(try await proceed(bench, entries[1]).status == 403)
            #expect(try await bench.answer(to: sale) == first)
            let told = try await bench.get("/v1/authorizations/\(sale.id)/continuations/\(entries[0].id)")
            #expect(try WireJSON.decode(AuthorizationAnswer.self, from: told.body) == second.answer)
            let unseen = try await bench.get("/v1/authorizations/\(sale.id)/continuations/\(entries[1].id)")
            #expect(unseen.status == 404)
            #expect(try await bench.ledger().transactions.map(\.outstanding) == [amount])
            #expect(try await bench.reverse(sale.id).status == 200)
            #expect(try await bench.ledger().transactions.map(\.outstanding) == [0])
        }
    }

    @Test func `a reversal takes back what went on, also what still comes`() async throws {
        let (sale, entries) = try asked(1_070)
        try await SandboxBench.run { bench in
            _ = try await bench.answer(to: sale)
            #expect(try await bench.reverse(sale.id).status == 200)
            #expect(try await proceed(bench, entries[0]).answer?.responseCode == "94")
            #expect(try await bench.ledger().transactions.map(\.outstanding) == [0])
        }
    }

    @Test func `a wrong PIN may be tried three times in all`() async throws {
        let (sale, entries) = try asked(1_070, pin: [9, 9, 9, 9])
        try await SandboxBench.run { bench in
            _ = try await bench.answer(to: sale)
            let answers = [
                try await proceed(bench, entries[0]), try await proceed(bench, entries[1]),
                try await proceed(bench, entries[2]),
            ].map(\.answer)
            let (codes, left) = (answers.map { $0?.responseCode }, answers.map { $0?.pinAttemptsLeft })
            #expect(codes == ["55", "55", "75"] && left == [2, 1, nil])
            #expect(try await proceed(bench, entries[3]).status == 403)
            #expect(try await bench.ledger().transactions.map(\.state) == [.declined])
        }
    }

    @Test func `who has not said that it can is not asked, and who was not asked does not go on`() async throws {
        let (asking, entries) = try asked(1_070)
        var sale = asking
        sale.features = nil
        try await SandboxBench.run { bench in
            let answer = try await bench.answer(to: sale)
            #expect(answer.action == .pinRequired && answer.singleTap == nil)
            let refused = try await proceed(bench, entries[0])
            let misplaced = try await proceed(bench, entries[1], of: TransactionID())
            #expect(refused.status == 403 && misplaced.status == 400)
        }
        let plain = Set(AdapterFeature.allCases).subtracting([.singleTap])
        let other = try asked(1_070)
        try await SandboxBench.run(features: plain) { bench in
            let answer = try await bench.answer(to: other.sale)
            let refused = try await proceed(bench, other.entries[0])
            #expect(answer.singleTap == nil && refused.status == 403)
        }
    }
}
