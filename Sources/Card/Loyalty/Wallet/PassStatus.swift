// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// How the wish for one programme's pass ended.
public enum PassStatus: Equatable, Sendable {
    /// The pass is there, opened or sealed.
    case delivered
    /// The phone took the address where its user can join the programme.
    case signUpSent
    /// The card side has no pass of this programme.
    case noPass
    /// The phone is locked.
    case locked
    /// The user has to choose or confirm on the phone.
    case choiceNeeded
    /// The wallet speaks another version of the protocol.
    case unsupportedVersion
    /// The wallet takes our request for wrong: configuration or a fault of ours.
    case refused(StatusWord)
    /// The wallet does not accept this terminal's key. Trying again does not help.
    case authenticationFailed(StatusWord)
    /// The wallet failed for a passing reason, also when asked again.
    case transientFailure(StatusWord)
    /// The wallet answers no more until the phone has left the field.
    case busy
    /// Something came, but it cannot be used.
    case unreadable(PassDefect)
    /// The phone says that it made the pass too long ago: a recorded one, or a clock that is behind.
    case tooOld
    /// The phone says that it made the pass later than now: its clock or ours is wrong.
    case clockOff
    /// The same pass was read a moment ago.
    case repeated
    /// The card's identifier is no member number.
    case unsuitable(UIDRefusal)
    /// The wallet needs a key that is not configured.
    case keyMissing
    /// A status word that the protocol does not know.
    case unexpectedStatus(StatusWord)
    /// The card left the field first.
    case cardLost
    /// Not asked for in this tap.
    case notAsked

    /// What the customer can do about it.
    public var customerAction: CustomerAction {
        switch self {
        case .delivered, .noPass, .repeated, .notAsked: .nothing
        case .signUpSent: .followSignUp
        case .locked: .unlockPhone
        case .choiceNeeded: .choosePass
        case .busy, .transientFailure, .cardLost: .presentAgain
        case .unsupportedVersion, .refused, .authenticationFailed, .unreadable, .tooOld, .clockOff, .unsuitable,
            .keyMissing,
            .unexpectedStatus:
            .askStaff
        }
    }

    /// Whether presenting the same phone once more may help.
    public var mayImprove: Bool {
        switch self {
        case .locked, .choiceNeeded, .busy, .transientFailure, .cardLost: true
        case .delivered, .noPass, .repeated, .notAsked, .signUpSent, .unsupportedVersion, .refused,
            .authenticationFailed, .unreadable, .tooOld, .clockOff, .unsuitable, .keyMissing, .unexpectedStatus:
            false
        }
    }
}

/// What is wrong with an answer that came.
public enum PassDefect: Equatable, Sendable {
    case malformed
    /// The sealed pass is shorter than its parts.
    case tooShort
    /// More than the limits allow, also after decompression.
    case tooLarge
    /// Sealed to a key that is not configured; the first four bytes of the hash of its X coordinate.
    case unknownKey([UInt8])
    /// The phone's key is no point of the curve.
    case invalidPoint
    /// The authentication code does not match.
    case notAuthentic
    /// The session answers for another session, or with a status other than OK.
    case badSession(UInt8)
    /// The wallet sent the pass in the clear.
    case notEncrypted
}

/// What the customer should do, in words of the loyalty flow only.
public enum CustomerAction: String, Sendable, CaseIterable {
    case nothing
    case unlockPhone
    case choosePass
    case presentAgain
    case presentOneCardOnly
    /// An invitation to the programme is on the phone.
    case followSignUp
    case askStaff
}
