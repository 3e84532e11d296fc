// SPDX-License-Identifier: Apache-2.0
/// Why programmes or a request are not accepted. Never carries a key.
public enum LoyaltyConfigurationError: Error, Equatable, Sendable {
    /// Empty, or other characters than printable ASCII.
    case passTypeIdentifierInvalid
    /// Not https, characters that an address cannot hold, or longer than the carrier allows.
    case urlInvalid
    /// More than 8 significant digits of a collector id's 4 bytes, or none.
    case collectorIDInvalid
    /// A collector without a key cannot open a session.
    case collectorKeyMissing
    /// Two keys of one version.
    case keyVersionRepeated(UInt32)
    /// Over 22 characters, or empty.
    case displayNameInvalid(programme: String)
    case programmeRepeated(String)
    case noProgramme
    /// More Apple pass types than one session may ask for.
    case tooManyMerchants(Int)
    /// A nonce or filter of the wrong length, or a merchant detail that does not fit into a request.
    case terminalInvalid
}

extension LoyaltyConfigurationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .passTypeIdentifierInvalid: "pass type identifier is not printable ASCII"
        case .urlInvalid: "sign-up address is not https or too long"
        case .collectorIDInvalid: "collector id does not fit into four bytes"
        case .collectorKeyMissing: "collector without a key"
        case .keyVersionRepeated(let version): "two keys of version \(version)"
        case .displayNameInvalid(let programme): "display name of \(programme) is empty or longer than 22 characters"
        case .programmeRepeated(let programme): "programme \(programme) stands there twice"
        case .noProgramme: "no programme that a card could answer for"
        case .tooManyMerchants(let count): "\(count) Apple pass types, a session may ask for 6"
        case .terminalInvalid: "terminal parameter of the wrong length"
        }
    }
}
