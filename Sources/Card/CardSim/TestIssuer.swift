// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The issuer of the catalogue's cards. Its master keys are public constants: TEST ONLY.
public enum TestIssuer {
    /// Recomputes the cryptogram of an online request.
    ///
    /// - Parameter record: the data record's objects: 9F26 9F10 9F36 9F37 9F02 9F03 9F1A 95 5F2A 9A 9C 82, the PAN in
    ///   5A or 57, and 5F34. Without 9F03 there was no other amount, without 5F34 the sequence number is 00. Further
    ///   objects are ignored; of a tag that occurs twice the first counts.
    public static func verify(_ record: some Sequence<(Tag, [UInt8])>) -> ARQCVerdict {
        let values = Dictionary(record, uniquingKeysWith: { first, _ in first })
        guard let cryptogram = values[0x9F26], cryptogram.count == 8 else { return .missing(0x9F26) }
        guard let issuerData = values[0x9F10] else { return .missing(0x9F10) }
        guard let pan = pan(values) else { return .missing(0x5A) }
        if let verdict = verifyCommonKernel(pan: pan, values) { return verdict }
        guard let issuer = TestIssuerIdentity.issuer(of: pan), let version = issuer.version(issuerData),
            let key = issuer.cardKey(pan: pan, sequence: values[0x5F34]?.first ?? 0)
        else { return .unknownCard }
        do throws(MissingObject) {
            return try version.cryptogram(key) { values[$0] } == cryptogram ? .verified : .wrongCryptogram
        } catch {
            return .missing(error.tag)
        }
    }

    /// Issuer Authentication Data (91) for an online request of a card whose cryptogram has no session key (Visa CVN 10):
    /// the issuer's cryptogram by method 1 (EMV Book 2 §8.2.1), then the response code.
    ///
    /// - Parameters:
    ///   - record: as for `verify`.
    ///   - responseCode: 8A, two bytes.
    /// - Returns: `nil` for a card of another issuer or another version of the cryptogram.
    public static func authenticationData(
        for record: some Sequence<(Tag, [UInt8])>, responseCode: [UInt8]
    ) -> [UInt8]? {
        let values = Dictionary(record, uniquingKeysWith: { first, _ in first })
        guard responseCode.count == 2, let cryptogram = values[0x9F26], cryptogram.count == 8, let pan = pan(values),
            let issuerData = values[0x9F10], let issuer = TestIssuerIdentity.issuer(of: pan),
            issuer.version(issuerData) == .visa10,
            let key = issuer.cardKey(pan: pan, sequence: values[0x5F34]?.first ?? 0)
        else { return nil }
        return key.responseCryptogram(request: cryptogram, responseCode: responseCode) + responseCode
    }

    /// Issuer Authentication Data for an online request of any card whose cryptogram the issuer verifies: the issuer's cryptogram by
    /// method 1 (EMV Book 2 §8.2.1), with the session key where the request's was made with one, then the response code.
    ///
    /// - Parameters:
    ///   - record: as for `verify`.
    ///   - responseCode: two bytes.
    /// - Returns: `nil` for a card of another issuer or another version of the cryptogram.
    public static func answer(to record: some Sequence<(Tag, [UInt8])>, responseCode: [UInt8]) -> [UInt8]? {
        let values = Dictionary(record, uniquingKeysWith: { first, _ in first })
        guard responseCode.count == 2, let cryptogram = values[0x9F26], cryptogram.count == 8, let pan = pan(values),
            let issuerData = values[0x9F10], let issuer = TestIssuerIdentity.issuer(of: pan),
            let version = issuer.version(issuerData),
            let master = issuer.cardKey(pan: pan, sequence: values[0x5F34]?.first ?? 0)
        else { return nil }
        let hasSession = version != .visa10 && version != .visa17
        guard let key = hasSession ? CardKey.session(master, counter: values[0x9F36] ?? []) : master else { return nil }
        return key.responseCryptogram(request: cryptogram, responseCode: responseCode) + responseCode
    }

    /// Whether a card number is one of the catalogue's issuers.
    ///
    /// - Parameter digits: 0…9 each.
    public static func isTestCard(_ digits: [UInt8]) -> Bool {
        TestIssuerIdentity.issuer(of: digits) != nil || digits.starts(with: ECCTestKeys.issuerIdentifier)
    }

    /// The digits of 5A, else those before the separator D of 57.
    private static func pan(_ values: [Tag: [UInt8]]) -> [UInt8]? {
        if let number = values[0x5A] { return BCD.digits(number) }
        guard let track = values[0x57] else { return nil }
        let nibbles = track.flatMap { [$0 >> 4, $0 & 0x0F] }
        guard let separator = nibbles.firstIndex(of: 0x0D) else { return nil }
        let digits = Array(nibbles[..<separator])
        return digits.allSatisfy { $0 < 10 } ? digits : nil
    }
}
