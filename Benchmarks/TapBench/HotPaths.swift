// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Envelope
import POSAPI
import PaymentValues
import Synchronization
import TapSession

/// One path of a tap, run so often and nothing besides: for a profiler, and for `Tests/Checks/check-instructions.sh`, which
/// takes the cost of one run from the difference between two numbers of runs.
enum HotPath: String, CaseIterable {
    case tlvWalk = "tlv-walk"
    case tlvIndex = "tlv-index"
    case dolFill = "dol-fill"
    case entryPoint = "entry-point"
    case visaOnline = "visa-online"
    case visaOffline = "visa-fdda"
    case mastercard = "mastercard-cda"
    case visaKnown = "visa-fdda-known"
    case mastercardKnown = "mastercard-cda-known"
    case authentication = "authentication-cda"
    case rsaThree = "rsa-1984-e3"
    case rsaLarge = "rsa-1984-e65537"
    case cardRecord = "card-record"
    case seal = "seal"
    case event = "event-json"
    /// Counted in the daemon, whose process the program starts.
    case sale = "sale"
    /// The same: from a start without books to an answer, and the stop.
    case start = "start"

    /// - Throws: `.wrongResult` where the path does not give the same result each time.
    func run(times: Int) async throws {
        if case .sale = self { return try await DaemonBenchmark.sales(times) }
        if case .start = self { return try await DaemonBenchmark.starts(times) }
        let body = try body()
        let first = body()
        guard first != 0 else { throw BenchmarkError.wrongResult(rawValue) }
        var sum = 0
        for _ in 0..<times { sum &+= body() }
        guard sum == first &* times else { throw BenchmarkError.wrongResult("\(rawValue) differs from run to run") }
    }

    /// What gives the same number other than 0 whenever the path went right.
    private func body() throws -> () -> Int {
        switch self {
        case .tlvWalk: return { ByteBenchmarks.walk(ByteBenchmarks.record) }
        case .tlvIndex: return { (try? TLV.nodes(ByteBenchmarks.record))?.count ?? 0 }
        case .dolFill:
            let dol = try DOL(ByteBenchmarks.list)
            let values = ByteBenchmarks.values(for: dol)
            return { ByteBenchmarks.fill(dol, values) }
        case .entryPoint:
            let tap = try RecordedTap.visaOnline()
            return { tap.runEntryPoint() == 0xA8 ? 1 : 0 }
        case .visaOnline: return whole(try .visaOnline())
        case .visaOffline: return whole(try .visaOffline())
        case .mastercard: return whole(try .mastercard())
        case .visaKnown: return whole(try .visaOffline().rememberingIssuers())
        case .mastercardKnown: return whole(try .mastercard().rememberingIssuers())
        case .authentication: return try HotPath.combinedAuthentication()
        case .rsaThree: return try HotPath.publicOperation(exponent: 3)
        case .rsaLarge: return try HotPath.publicOperation(exponent: 65_537)
        case .cardRecord: return try HotPath.record()
        case .seal:
            let plaintext = SecretBytes([UInt8](repeating: 0x61, count: 700))
            return { (try? JWE.seal(plaintext, to: .sandboxTest))?.utf8.count ?? 0 }
        case .event:
            let event = try HotPath.approval()
            return { (try? WireJSON.encode(event))?.count ?? 0 }
        case .sale, .start: throw BenchmarkError.wrongUse("\(rawValue) runs in a process of its own")
        }
    }

    private func whole(_ tap: RecordedTap) -> () -> Int { { tap.run() } }

    /// The certificates and the signature of a Mastercard tap, as its kernel hands them over.
    private static func combinedAuthentication() throws -> () -> Int {
        final class Witness: Sendable { let request = Mutex<AuthenticationRequest?>(nil) }
        let witness = Witness()
        var tap = try RecordedTap.mastercard()
        let verify = tap.authentication.verify
        tap.authentication.verify = { request in
            witness.request.withLock { $0 = request }
            return verify(request)
        }
        guard tap.run() != 0, let request = witness.request.withLock({ $0 }) else {
            throw BenchmarkError.wrongResult("no signature was verified")
        }
        return {
            guard case .verified(let data) = verify(request) else { return 0 }
            return data.cryptogram.count
        }
    }

    private static func publicOperation(exponent: UInt32) throws -> () -> Int {
        guard let certificate = try RecordedTap.mastercard().value(0x90),
            let key = RSAPublicKey(modulus: try Hex.bytes(KeyBenchmarks.testModulus), exponent: exponent)
        else { throw BenchmarkError.wrongResult("the test card's issuer certificate") }
        return { Int(key.recover(certificate)?.last ?? 0) }
    }

    /// The plaintext of the envelope out of the outcome.
    private static func record() throws -> () -> Int {
        guard let final = try RecordedTap.mastercard().outcome() else {
            throw BenchmarkError.wrongResult("the outcome")
        }
        let binding = CardRecord.Binding(
            transaction: "0190a6e2-8d4c-7b3a-9f10-2c6b5e4d3a21", reader: "main", amount: 1_250, currency: "EUR",
            issuedAt: 1_768_478_400)
        return { (try? CardRecord(final, binding))?.plaintext.count ?? 0 }
    }

    /// The longest event of an ordinary sale.
    private static func approval() throws -> Event {
        guard let euro = Currency("EUR"), let id = TransactionID("0190a6e2-8d4c-7b3a-9f10-2c6b5e4d3a21"),
            let card = MaskedCard(scheme: "Mastercard", last4: "0049", masked: "************0049")
        else { throw BenchmarkError.wrongResult("the event") }
        var event = Event(
            id: 1_024, .paymentApproved, at: Timestamp(milliseconds: 1_768_478_400_125), lane: "main")
        event.transaction = id
        event.amount = Money(value: 1_250, currency: euro)
        event.card = card
        event.mode = .live
        var result = PaymentResult(mode: .live, outcome: .approved)
        result.responseCode = "00"
        result.approvalCode = "123456"
        result.pspReference = "reference-1"
        event.result = result
        return event
    }
}
