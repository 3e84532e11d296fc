// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PaymentValues

/// An acceptance of terms that was given elsewhere, for example on the payment service's web site, and signed by the
/// payment service. It holds for every installation of its merchant.
public struct AcceptanceFile: Equatable, Sendable {
    /// `typ` of the JWS header.
    public static let type = "nfc-tap-terms+jws"

    /// Who accepted, in the payment service's words.
    public let acceptedBy: String
    public let acceptedAt: Timestamp

    /// Verifies the file, and that it is about these terms of this merchant.
    ///
    /// - Parameter token: JWS in compact form; blanks around it do not matter.
    public init(token: String, key: VerificationKey, for profile: Profile) throws(ProfileError) {
        let payload: [UInt8]
        do throws(JWSError) { payload = try JWS.verify(token, with: key, type: AcceptanceFile.type) } catch {
            throw .untrusted(error)
        }
        let file = try ProfileValue(file: payload)
        try file.object(["version", "merchant", "termsHash", "acceptedBy", "acceptedAt"])
        _ = try file.member("version").number(in: 1...1)
        guard try file.member("merchant").line(1...64) == profile.merchant.id else { throw .otherTerms("merchant") }
        guard try file.member("termsHash").text(64...64) == profile.terms.hash else { throw .otherTerms("termsHash") }
        acceptedBy = try file.member("acceptedBy").line(1...64)
        acceptedAt = try file.member("acceptedAt").time()
    }
}
