// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PaymentValues

/// The merchant's profile as the sandbox issues it, by default under the published test key.
public struct SandboxProfile: Sendable {
    /// Ways of serving one that a daemon must not use.
    public enum Fault: String, CaseIterable, Sendable {
        /// The profile's time has passed.
        case expired
        /// Signed with a key that nobody knows.
        case signature
        /// A currency that does not exist.
        case malformed
    }

    /// Stands in the text of the terms too: another version is another text.
    public var termsVersion = "2026-01"
    /// Seconds from issue to expiry. A new one, with a higher serial, is issued after half of them.
    public var lifetime: Int64 = 30 * 86_400
    public var fault: Fault?
    /// Whether stored cards may be charged on the customer's wish.
    public var customerCharges = true
    /// The whole payload, where a test wants another one than the sandbox's own.
    public var payload: String?
    public var key: SigningKey

    public init(key: SigningKey) { self.key = key }

    /// The profile in compact JWS form.
    ///
    /// - Parameters:
    ///   - start: when the first one was issued.
    ///   - recipients: JWKS that card data is to be sealed to.
    func token(start: Timestamp, now: Timestamp, recipients: String) -> String {
        let half = max(1, lifetime / 2)
        let periods = max(0, (now.milliseconds - start.milliseconds) / 1_000 / half)
        var issued = start.advanced(bySeconds: periods * half)
        if fault == .expired { issued = issued.advanced(bySeconds: -2 * max(1, lifetime)) }
        let json = payload ?? self.json(issued: issued, recipients: recipients)
        let key = fault == .signature ? SigningKey() : self.key
        // Fails only where the key cannot sign, which a P-256 key always can.
        return (try? JWS.sign(Array(json.utf8), key: key, type: "nfc-tap-profile+jws")) ?? ""
    }

    private func json(issued: Timestamp, recipients: String) -> String {
        let currencies = fault == .malformed ? #""EUR", "XTS""# : #""EUR", "CHF", "USD", "GBP", "JPY", "KWD""#
        let merchant =
            #"{"id": "sandbox-merchant", "displayName": "Sandbox Shop", "country": 276, "addressLines": ["Teststrasse 1"]}"#
        return """
            {"version": 1, "serial": \(max(1, issued.milliseconds / 1_000)), "serviceName": "nfc-tap sandbox",
            "issuedAt": "\(issued)", "expiresAt": "\(issued.advanced(bySeconds: max(1, lifetime)))",
            "merchant": \(merchant),
            "terms": {"version": "\(termsVersion)", "text": "\(termsText)"},
            "currencies": [\(currencies)],
            "acceptedNetworks": ["Visa", "Mastercard", "Maestro", "American Express", "JCB", "Discover", "UnionPay", "Card"],
            "terminal": \(SandboxProfile.terminal),
            "recipientKeys": \(recipients), "charges": {"customer": \(customerCharges)},
            "offline": {"count": 50, "ceilings": [{"currency": "EUR", "amount": 5000, "total": 50000}],
            "networks": ["Visa", "Mastercard"], "maximumAge": 86400, "rebootAllowed": false},
            "receiptTokenKey": \(key.verificationKey.jwk)}
            """
    }

    private var termsText: String {
        #"Terms of the nfc-tap sandbox, version \#(termsVersion).\n\nTest cards only. No money moves, nothing is owed, "#
            + "and accepting these terms binds nobody to anything."
    }
}

extension SandboxProfile {
    /// An acceptance of `hash` for a merchant that was given elsewhere, in compact JWS form: what a payment service would
    /// give to somebody who looks after many machines.
    ///
    /// - Throws: `JWSError` if the key does not sign.
    public func acceptance(merchant: String, hash: String, by name: String, at time: Timestamp) throws(JWSError)
        -> String
    {
        let json = #"""
            {"version": 1, "merchant": "\#(merchant)", "termsHash": "\#(hash)", "acceptedBy": "\#(name)",
            "acceptedAt": "\#(time)"}
            """#
        return try JWS.sign(Array(json.utf8), key: key, type: "nfc-tap-terms+jws")
    }
}
