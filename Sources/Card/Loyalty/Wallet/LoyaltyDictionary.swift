// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Names of the data objects of one application, for people who read a transcript, and which of them may be shown.
///
/// One dictionary for each application: 9F26 is the terminal's capabilities here and a cryptogram in EMV.
public struct LoyaltyDictionary: Sendable {
    public struct Element: Equatable, Sendable {
        public let tag: Tag
        public let name: String
        /// Says something about the customer: to be left out of logs.
        public let isSecret: Bool
    }

    public let elements: [Element]

    public func element(_ tag: Tag) -> Element? { elements.first { $0.tag == tag } }

    public static let vas = LoyaltyDictionary(
        elements: [
            Element(tag: VASTag.fciTemplate, name: "FCI template", isSecret: false),
            Element(tag: VASTag.walletLabel, name: "wallet", isSecret: false),
            Element(tag: VASTag.mobileVersion, name: "mobile application version", isSecret: false),
            Element(tag: VASTag.terminalVersion, name: "terminal application version", isSecret: false),
            Element(tag: VASTag.mobileCapabilities, name: "mobile capabilities", isSecret: false),
            Element(tag: VASTag.deviceNonce, name: "device nonce", isSecret: false),
            Element(tag: VASTag.merchantID, name: "merchant id", isSecret: false),
            Element(tag: VASTag.terminalCapabilities, name: "terminal capabilities", isSecret: false),
            Element(tag: VASTag.passData, name: "pass data", isSecret: true),
            Element(tag: VASTag.terminalNonce, name: "terminal nonce", isSecret: false),
            Element(tag: VASTag.merchantURL, name: "merchant URL", isSecret: false),
            Element(tag: VASTag.mobileToken, name: "mobile token", isSecret: true),
            Element(tag: VASTag.filter, name: "filter", isSecret: false),
            Element(tag: VASTag.responseTemplate, name: "response template", isSecret: false),
        ])

    public static let smartTap = LoyaltyDictionary(
        elements: [
            Element(tag: VASTag.fciTemplate, name: "FCI template", isSecret: false),
            Element(tag: VASTag.walletLabel, name: "wallet", isSecret: false),
            Element(tag: SmartTapTag.applicationVersion, name: "application version", isSecret: false),
            Element(tag: SmartTapTag.transactionDetails, name: "transaction details", isSecret: false),
            Element(tag: SmartTapTag.deviceNonce, name: "device nonce", isSecret: false),
            Element(tag: SmartTapTag.deviceEphemeralKey, name: "device ephemeral key", isSecret: false),
            Element(tag: SmartTapTag.applicationTemplate, name: "application template", isSecret: false),
            Element(tag: SmartTapTag.applicationName, name: "application", isSecret: false),
            Element(tag: SmartTapTag.priority, name: "priority", isSecret: false),
            Element(tag: SmartTapTag.discretionaryTemplate, name: "discretionary data", isSecret: false),
            Element(tag: SmartTapTag.minimumVersion, name: "minimum version", isSecret: false),
            Element(tag: SmartTapTag.maximumVersion, name: "maximum version", isSecret: false),
            Element(tag: SmartTapTag.capabilities, name: "Smart Tap capabilities", isSecret: false),
            Element(tag: SmartTapTag.directoryNonce, name: "device nonce", isSecret: false),
            Element(tag: SmartTapTag.directoryEphemeralKey, name: "device ephemeral key", isSecret: false),
        ])
}
