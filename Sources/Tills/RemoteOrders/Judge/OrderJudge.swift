// SPDX-License-Identifier: Apache-2.0
import Envelope
import StrictJSON

/// Decides which orders of a backend are taken, without I/O. What came before is the book's business.
package struct OrderJudge: Sendable {
    /// Bytes of one order.
    package static let longest = 8 * 1_024
    package static let type = "nfc-tap-order+jws"
    /// Seconds that an order may live.
    package static let lives: ClosedRange<Int64> = 5...120
    /// Seconds by which a backend's clock may go before this one.
    package static let ahead: Int64 = 30
    /// Seconds without which nobody could tap in time.
    package static let least: Int64 = 5

    /// `aud`: the name of this installation.
    package let installation: String
    package let senders: [String: OrderSender]

    package init(installation: String, senders: [OrderSender]) {
        self.installation = installation
        self.senders = Dictionary(senders.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Reads a token: everything about it that neither a clock nor another order decides.
    ///
    /// - Parameter name: under which it stands in the answer to a poll.
    /// - Throws: the first rule that it breaks.
    package func read(_ token: String, named name: String) throws(OrderRefusal) -> Order {
        guard token.utf8.count <= Self.longest else { throw .tooLarge }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            Base64URL.decode(parts[2]) != nil
        else { throw .malformed }
        let claims = try OrderClaims(payload)
        let keyID = try Self.keyID(of: header)
        let iss = try claims.text("iss", or: .malformed)
        guard let sender = senders[iss] else { throw .issuerUnknown }
        guard let key = sender.keys.first(where: { $0.keyID == keyID }) else { throw .keyUnknown }
        do throws(JWSError) { _ = try JWS.verify(token, with: key, type: Self.type) } catch { throw .signature }
        return try order(claims, of: iss, keyID, named: name)
    }

    /// What a token has that an order must not have, for its sender alone: by then the signature has held.
    ///
    /// - Returns: the first few names, shortened, in visible ASCII.
    package static func strangers(in token: String) -> [String] {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let claims = try? OrderClaims(payload),
            let purpose = try? claims.text("do", or: .malformed), let own = members[purpose]
        else { return [] }
        return claims.strangers(beside: own.union(always)).prefix(4).map { name in
            String(
                decoding: name.utf8.prefix(64).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
                as: UTF8.self)
        }
    }

    /// Claims by `do`, and those that each order has.
    private static let members: [String: Set<String>] = [
        "start": ["lane", "request"], "cancel": ["of"], "report": ["of"],
    ]
    private static let always: Set<String> = ["iss", "aud", "jti", "iat", "exp", "do"]

    /// Whether a new order comes in time.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - clockHolds: whether this clock is believed.
    /// - Throws: why it does not. A cancel always does: it can only prevent.
    package func judgeTimes(of order: Order, now: Int64, clockHolds: Bool) throws(OrderRefusal) {
        guard Self.lives.contains(order.life) else { throw .lifetime }
        switch order.purpose {
        case .cancel: return
        case .start, .report:
            guard order.issuedAt <= now + Self.ahead else { throw .fromTheFuture }
            guard order.expires > now else { throw .expired }
        }
        guard case .start = order.purpose else { return }
        guard order.expires - now >= Self.least else { throw .expired }
        guard clockHolds else { throw .clock }
    }

    /// Whether the sender may ask for this payment.
    ///
    /// - Parameter spent: what it has asked for within 24 hours in this currency, in minor units.
    /// - Throws: why it may not.
    package func judge(_ start: Order.Start, of sender: String, spent: Int64) throws(OrderRefusal) {
        guard let sender = senders[sender] else { throw .issuerUnknown }
        guard sender.lanes.contains(start.lane) else { throw .lane }
        guard sender.types.contains(start.type) else { throw .type }
        guard !start.currency.isEmpty else { throw .amount }
        guard let limit = sender.limits[start.currency] else { throw .currency }
        let isFree = start.type == "verification"
        guard start.value <= limit, isFree == (start.value == 0) else { throw .amount }
        guard let most = sender.dayLimits[start.currency] else { return }
        let (sum, overflow) = spent.addingReportingOverflow(start.value)
        guard !overflow, sum <= most else { throw .dayLimit }
    }

    /// - Throws: `.header` for anything but `alg`, `kid` and `typ` as they have to be.
    private static func keyID(of header: [UInt8]) throws(OrderRefusal) -> String {
        let span = header.span
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(span) } catch { throw .header }
        let texts = ["alg", "kid", "typ"].compactMap { name in
            index.member(name, in: span).flatMap { index.string($0, in: span) }
        }
        guard index.children(of: 0).count == 3, texts.count == 3, texts[0] == "ES256", texts[2] == type else {
            throw .header
        }
        return texts[1]
    }

    private func order(
        _ claims: OrderClaims, of sender: String, _ keyID: String, named name: String
    ) throws(OrderRefusal) -> Order {
        let purpose = try claims.text("do", or: .malformed)
        guard let own = Self.members[purpose] else { throw .malformed }
        guard claims.names.isSubset(of: own.union(Self.always)) else { throw .unknownMember }
        guard try claims.text("aud", or: .malformed) == installation else { throw .notForHere }
        let id = try claims.text("jti", or: .malformed)
        guard id == name, id.isOrderID else { throw .malformed }
        let (issuedAt, expires) = (try claims.time("iat"), try claims.time("exp"))
        return Order(
            key: OrderKey(sender: sender, id: id), keyID: keyID, digest: claims.digest, issuedAt: issuedAt,
            expires: expires, purpose: try self.purpose(purpose, claims))
    }

    private func purpose(_ word: String, _ claims: OrderClaims) throws(OrderRefusal) -> Order.Purpose {
        guard word == "start" else {
            let other = try claims.text("of", or: .malformed)
            guard other.isOrderID else { throw .malformed }
            return word == "cancel" ? .cancel(of: other) : .report(of: other)
        }
        return .start(try claims.start())
    }
}

extension String {
    /// 1 to 128 visible ASCII characters, as the daemon has them in an `Idempotency-Key`.
    package var isOrderID: Bool {
        (1...128).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
