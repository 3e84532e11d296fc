// SPDX-License-Identifier: Apache-2.0
/// What an Application Cryptogram says: bits 8 and 7 of the Cryptogram Information Data (9F27) and of the reference
/// control parameter of GENERATE AC (EMV Book 3 §6.5.5).
public enum ApplicationCryptogram: UInt8, Sendable, CaseIterable {
    /// Declined.
    case aac = 0x00
    /// Approved offline.
    case tc = 0x40
    /// Authorisation requested.
    case arqc = 0x80

    /// - Parameter cryptogramInformation: 9F27; `nil` for the reserved coding 11.
    public init?(cryptogramInformation: UInt8) { self.init(rawValue: cryptogramInformation & 0xC0) }

    /// Whether a card may answer with this type where `requested` was asked: never more than asked for.
    public func isAllowed(for requested: ApplicationCryptogram) -> Bool {
        switch (requested, self) {
        case (_, .aac), (.tc, _), (.arqc, .arqc): true
        case (.arqc, .tc), (.aac, .tc), (.aac, .arqc): false
        }
    }
}
