// SPDX-License-Identifier: Apache-2.0
/// What the issuer answered to an online request, for a restart (EMV Contactless Book A §6.2, Online Response Data).
public struct OnlineResponse: Equatable, Sendable {
    /// Authorisation Response Code (8A), two ASCII characters.
    public var authorisationResponseCode: [UInt8]
    /// Issuer Authentication Data (91), 8…16 bytes; empty where there is none.
    public var issuerAuthenticationData: [UInt8]
    /// Issuer script templates (71, 72), encoded; empty where there are none.
    public var scripts: [UInt8]

    public init(authorisationResponseCode: [UInt8], issuerAuthenticationData: [UInt8] = [], scripts: [UInt8] = []) {
        self.authorisationResponseCode = authorisationResponseCode
        self.issuerAuthenticationData = issuerAuthenticationData
        self.scripts = scripts
    }

    /// Whether there is something for the card: issuer authentication data or a script.
    public var hasCardData: Bool { !issuerAuthenticationData.isEmpty || !scripts.isEmpty }
}
