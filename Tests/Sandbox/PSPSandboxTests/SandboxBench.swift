// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Envelope
import Foundation
import LocalHTTP
import Logging
import PSPAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import TapSession
import TerminalFile
import Testing

@testable import PSPSandbox

/// A sandbox at a socket of its own, and taps of catalogue cards to send there.
struct SandboxBench: Sendable {
    static let longest = Duration.seconds(10)

    let client: HTTPClient
    let path: String

    /// Serves for the time of `body`.
    static func run(
        timing: SandboxTiming = SandboxTiming(slow: .milliseconds(50), late: .milliseconds(500)),
        store: String? = nil, features: Set<AdapterFeature> = Set(AdapterFeature.allCases),
        now: @escaping @Sendable () -> Timestamp = { .now }, _ body: (SandboxBench) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-\(UUID().uuidString.prefix(8)).sock")
            .path()
        let key = try TestRecipient.privateKey()
        let sandbox =
            if let store {
                try Sandbox(key: key, storePath: store, timing: timing, features: features, now: now)
            } else {
                Sandbox(key: key, timing: timing, features: features, now: now)
            }
        let server = try SandboxServer(
            path: path, sandbox: sandbox, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let serving = Task { try await server.run() }
        do {
            try await body(SandboxBench(client: HTTPClient(path: path), path: path))
        } catch {
            serving.cancel()
            throw error
        }
        server.shutDown()
        try await serving.value
    }

    /// Taps `card` and makes the request that a daemon would.
    static func request(
        _ minorUnits: Int64, card: String = "visa", id: TransactionID = TransactionID(),
        type: AuthorizationRequest.Kind = .sale, now: Timestamp = .now
    ) throws -> AuthorizationRequest {
        let control = try VirtualReaderControl { CardCatalogue.card(named: $0) }
        try control.obey("present \(card)")
        let amount = Money(value: minorUnits, currency: try #require(Currency("EUR")))
        let date = now.components
        let tap = PaymentTap(
            authentication: TerminalFile.test.authentication,
            transaction: EMV.Transaction(
                amount: UInt64(minorUnits), currency: amount.currency.numeric, exponent: 2, country: 276,
                date: EMVDate(year: date.year, month: date.month, day: date.day),
                time: EMVTime(hour: date.hour, minute: date.minute, second: date.second), sequenceCounter: 1),
            binding: CardRecord.Binding(
                transaction: id.text, reader: "test", amount: UInt64(minorUnits), currency: "EUR",
                issuedAt: UInt64(now.milliseconds / 1_000)),
            recipient: .sandboxTest, deadlines: TapDeadlines(card: monotonicNow().advanced(byMilliseconds: 5_000)))
        var result: PaymentTapResult?
        try tap.run(on: VirtualReader(control), cancellation: TapCancellation()) { _ in
        } deliver: {
            result = $0
        }
        let read = try #require(result?.read)
        return AuthorizationRequest(
            id: id, mode: .test, type: type, amount: amount, entryMode: .contactlessEMV, cvm: .noCVM,
            emv: read.clearTags.hex,
            card: try #require(
                MaskedCard(scheme: read.account.scheme, last4: read.account.lastFour, masked: read.account.masked)),
            envelope: read.envelope, terminal: .init(id: "00000001", merchant: "test", capabilities: []))
    }

    func post(_ target: String, _ body: [UInt8], key: String?) async throws(HTTPClientError) -> HTTPClientAnswer {
        var fields: HTTPFields = ["Content-Type": "application/json"]
        if let key { fields.set("Idempotency-Key", key) }
        return try await client.send(
            HTTPClientRequest(.post, target, fields: fields, body: body), answerWithin: Self.longest)
    }

    func get(_ target: String) async throws(HTTPClientError) -> HTTPClientAnswer {
        try await client.send(HTTPClientRequest(.get, target), answerWithin: Self.longest)
    }

    func authorize(_ request: AuthorizationRequest) async throws -> HTTPClientAnswer {
        try await post("/v1/authorizations", WireJSON.encode(request), key: request.id.text)
    }

    /// Sends the request and gives up before its answer comes, but not before the sandbox has it in its books.
    func authorizeInVain(_ request: AuthorizationRequest) async throws {
        let sent = HTTPClientRequest(
            .post, "/v1/authorizations", fields: ["Idempotency-Key": request.id.text],
            body: try WireJSON.encode(request))
        await #expect(throws: HTTPClientError.noAnswer(.timedOut)) {
            try await client.send(sent, answerWithin: .milliseconds(100))
        }
        for _ in 0..<10_000 {
            if try await !ledger().transactions.isEmpty { return }
        }
        Issue.record("the sandbox never got the request")
    }

    func answer(to request: AuthorizationRequest) async throws -> AuthorizationAnswer {
        let answer = try await authorize(request)
        try #require(answer.status == 200)
        return try WireJSON.decode(AuthorizationAnswer.self, from: answer.body)
    }

    func reverse(_ id: TransactionID, amount: Money? = nil) async throws -> HTTPClientAnswer {
        try await post(
            "/v1/authorizations/\(id)/reversals", WireJSON.encode(ReversalRequest(reason: .timeout, amount: amount)),
            key: id.text)
    }

    func ledger() async throws -> LedgerReport {
        try await WireJSON.decode(LedgerReport.self, from: get("/debug/ledger").body)
    }

    // MARK: - Operations

    static func euro(_ value: Int64) throws -> Money { Money(value: value, currency: try #require(Currency("EUR"))) }

    func operate(
        _ part: String, on payment: TransactionID, _ message: some Encodable, key: String
    ) async throws -> HTTPClientAnswer {
        try await post("/v1/authorizations/\(payment)/\(part)", WireJSON.encode(message), key: key)
    }

    private func answer(_ answer: HTTPClientAnswer) throws -> AdapterOperationAnswer {
        try #require(answer.status == 200)
        return try WireJSON.decode(AdapterOperationAnswer.self, from: answer.body)
    }

    func capture(
        _ value: Int64, of payment: TransactionID, tip: Int64? = nil, final: Bool = true,
        id: OperationID = OperationID()
    ) async throws -> AdapterOperationAnswer {
        let request = CaptureRequest(
            id: id, mode: .test, amount: try Self.euro(value), tip: try tip.map(Self.euro), final: final)
        return try answer(await operate("captures", on: payment, request, key: id.text))
    }

    func adjust(
        _ payment: TransactionID, to total: Int64?, id: OperationID = OperationID()
    ) async throws -> AdapterOperationAnswer {
        let request = AdjustmentRequest(
            id: id, mode: .test, total: try total.map(Self.euro), extend: total == nil ? true : nil)
        return try answer(await operate("adjustments", on: payment, request, key: id.text))
    }

    func release(
        _ value: Int64, of payment: TransactionID, id: OperationID = OperationID()
    ) async throws -> AdapterOperationAnswer {
        let request = ReleaseRequest(id: id, mode: .test, amount: try Self.euro(value))
        return try answer(await operate("releases", on: payment, request, key: id.text))
    }

    func refund(
        _ value: Int64, of payment: TransactionID, id: TransactionID = TransactionID(),
        card: RefundCardRule = .none, read: AuthorizationRequest? = nil
    ) async throws -> AdapterOperationAnswer {
        let request = RefundRequest(
            id: id, mode: .test, amount: try Self.euro(value), card: card, authorization: read)
        return try answer(await operate("refunds", on: payment, request, key: id.text))
    }

    /// What a question about an operation is answered with; `nil` for 404.
    func operation(_ id: OperationID) async throws -> AdapterOperationAnswer? {
        let answer = try await get("/v1/operations/\(id)")
        return answer.status == 404 ? nil : try self.answer(answer)
    }

    /// A payment of `value`, approved.
    func approved(
        _ value: Int64, _ type: AuthorizationRequest.Kind = .preauth, card: String = "visa"
    ) async throws -> TransactionID {
        let request = try Self.request(value, card: card, type: type)
        let answer = try await answer(to: request)
        try #require(answer.outcome == .approved)
        return request.id
    }

    func entry(_ id: TransactionID) async throws -> LedgerEntry {
        try #require(try await ledger().transactions.first { $0.id == id })
    }
}
