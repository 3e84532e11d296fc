// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Envelope
import PSPAPI
import PaymentValues

extension OpenedRecord {
    /// Whether the card's last month is over at `now`, milliseconds since 1970 being UTC.
    func isExpired(at now: Timestamp) -> Bool {
        guard let expiry, expiry.utf8.count == 4, let number = Int(expiry) else { return true }
        let today = now.components
        return (number / 100 + 2000, number % 100) < (today.year, today.month)
    }

    /// Opens the envelope of a request, and holds it against what the request says in the clear.
    init(
        of request: AuthorizationRequest, with key: RecipientPrivateKey, at now: Timestamp
    ) throws(EnvelopeFault) {
        // What a card has approved by itself may come later: up to thirty days.
        let grace: Int64 = request.offline ? 30 * 24 * 3_600 : 0
        try self.init(
            request.envelope, of: request.id, request.amount, request.card, with: key,
            at: now.milliseconds / 1_000 - grace)
    }

    /// Opens the read that a link or a hand-over goes on with: of the sale that it tries once more, over the same amount.
    init(
        of read: KeptRead, for request: LinkRequest, with key: RecipientPrivateKey, at now: Timestamp
    ) throws(EnvelopeFault) {
        guard let sale = request.retryOf else { throw .mismatch }
        try self.init(
            read.envelope, of: sale, request.amount, read.card, with: key, at: now.milliseconds / 1_000)
    }

    /// - Parameter second: since 1970, at which the record has to be good.
    private init(
        _ envelope: String, of id: TransactionID, _ amount: Money, _ card: MaskedCard, with key: RecipientPrivateKey,
        at second: Int64
    ) throws(EnvelopeFault) {
        let record: OpenedRecord
        do { record = try OpenedRecord(JWE.open(envelope, with: key)) } catch { throw .unreadable }
        guard record.transaction == id.text, Int64(exactly: record.amount) == amount.value,
            record.currency == amount.currency.code,
            record.digits.suffix(4).map({ $0 | 0x30 }) == Array(card.last4.utf8)
        else { throw .mismatch }
        guard Int64(clamping: record.expires) > second else { throw .stale }
        self = record
    }

    /// - Returns: what the test issuer says of the cryptogram.
    func verdict(on request: AuthorizationRequest, at now: Timestamp) throws(EnvelopeFault) -> String {
        guard passesLuhn else { throw .invalidNumber }
        guard !isExpired(at: now) else { throw .expiredCard }
        guard objects.contains(where: { $0.0 == 0x9F26 }) || request.entryMode == .contactlessMagstripe else {
            throw .wrongCryptogram
        }
        switch TestIssuer.verify(objects) {
        case .verified: return "verified"
        // Another test set's card: its issuer's keys are not known here, so that nothing can be said against it.
        case .unknownCard: return "unknownCard"
        case .wrongCryptogram: throw .wrongCryptogram
        case .missing:
            guard request.entryMode == .contactlessMagstripe else { throw .incompleteData }
            return "missing"
        }
    }
}
