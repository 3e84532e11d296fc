// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Every status word that GET VAS DATA is known to answer with; names as in Apple's own enumeration of them.
///
/// 6A88, 6982 and 6985 are not among them.
public enum VASStatus: UInt16, Sendable, CaseIterable {
    case success = 0x9000
    /// The phone is locked, or the pass wants the user's authentication; the phone shows the pass.
    case dataNotActivated = 0x6287
    case unsupportedApplicationVersion = 0x6340
    /// Our fault: Lc.
    case wrongLengthField = 0x6700
    /// The user has to choose or do something on the phone.
    case userIntervention = 0x6984
    /// Our fault: a data object.
    case incorrectData = 0x6A80
    /// No pass of this merchant, or not the one chosen.
    case dataNotFound = 0x6A83
    /// Our fault: P1 or P2.
    case wrongParameters = 0x6B00

    /// - Returns: `nil` for a status word that is not VAS's.
    public init?(_ status: StatusWord) { self.init(rawValue: status.rawValue) }

    /// What it means for the pass that was asked for; `nil` for success.
    public var passStatus: PassStatus? {
        switch self {
        case .success: nil
        case .dataNotActivated: .locked
        case .unsupportedApplicationVersion: .unsupportedVersion
        case .userIntervention: .choiceNeeded
        case .dataNotFound: .noPass
        case .wrongLengthField, .incorrectData, .wrongParameters: .refused(StatusWord(rawValue))
        }
    }

    /// Whether other merchants may still be asked in this activation.
    public var allowsNextMerchant: Bool {
        switch self {
        case .success, .dataNotFound: true
        case .dataNotActivated, .unsupportedApplicationVersion, .wrongLengthField, .userIntervention, .incorrectData,
            .wrongParameters:
            false
        }
    }
}
