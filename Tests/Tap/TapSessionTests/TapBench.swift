// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Crypto
import EMV
import Envelope
import ReaderCore
import ReaderVirtual
import TerminalFile
import Testing

@testable import TapSession

/// One tap of a catalogue card on the virtual reader, sealed to a key of this test run.
final class TapBench {
    let control: VirtualReaderControl
    let reader: NotingReader
    let cancellation = TapCancellation()
    let privateKey: RecipientPrivateKey
    var tap: PaymentTap
    private(set) var result: PaymentTapResult?
    /// The clock runs ahead by so much once a card was detected.
    var jumpMilliseconds: UInt64 = 0
    var onCollision: () -> Void = {}
    var shown: [UIRequest] = []

    init(milliseconds: UInt64 = 5_000) throws {
        control = try VirtualReaderControl(cardNames: CardCatalogue.names) { CardCatalogue.card(named: $0) }
        reader = NotingReader(VirtualReader(control))
        let key = P256.KeyAgreement.PrivateKey()
        let point = Array(key.publicKey.rawRepresentation)
        let members = """
            {"kty":"EC","crv":"P-256","kid":"test-bench","x":"\(Base64URL.string(point.prefix(32)))",\
            "y":"\(Base64URL.string(point.suffix(32)))"
            """
        privateKey = try RecipientPrivateKey(
            jwk: SecretBytes(Array("\(members),\"d\":\"\(Base64URL.string(key.rawRepresentation))\"}".utf8)))
        tap = PaymentTap(
            authentication: TerminalFile.test.authentication,
            transaction: Transaction(
                amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 11, day: 21),
                time: EMVTime(hour: 20, minute: 15, second: 0), sequenceCounter: 1),
            binding: SampleOutcomes.binding, recipient: try RecipientKey(jwk: Array("\(members)}".utf8)),
            deadlines: TapDeadlines(card: monotonicNow().advanced(byMilliseconds: milliseconds)))
    }

    func present(_ name: String) throws { try control.obey("present \(name)") }

    @discardableResult
    func run() throws(PaymentTapError) -> PaymentTapResult? {
        var ahead: UInt64 = 0
        let clock = { monotonicNow().advanced(byMilliseconds: ahead) }
        try tap.run(on: reader, cancellation: cancellation, clock: clock) { signal in
            switch signal {
            case .cardAwaited: self.reader.notes.append("await")
            case .presentationFailed(let end): self.reader.notes.append("failed \(end)")
            case .targetUnsupported: self.reader.notes.append("unsupported")
            case .cardDetected:
                ahead = self.jumpMilliseconds
                self.reader.notes.append("detected")
            case .collision:
                self.reader.notes.append("collision")
                self.onCollision()
            case .unreadable: self.reader.notes.append("unreadable")
            case .show(let request):
                self.shown.append(request)
                if request.status == .cardReadSuccessfully { self.reader.notes.append("beep") }
            }
        } deliver: { result in
            self.result = result
            self.reader.notes.append("deliver")
        }
        return result
    }

    /// The envelope's plaintext as text.
    func plaintext() throws -> String {
        let read = try #require(result?.read)
        return String(decoding: try JWE.open(read.envelope, with: privateKey).copied, as: UTF8.self)
    }
}
