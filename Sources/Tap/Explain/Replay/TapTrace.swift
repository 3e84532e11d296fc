// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV
public import ReaderCore

/// Everything that happened while Entry Point took one transaction: what was asked of the card, what it answered, what
/// was shown, what was verified, how it ended. Holds card data in the clear; `ReplayReport` and `Explanation` make it fit
/// to be shown.
public struct TapTrace: Sendable {
    public enum Event: Sendable {
        case signal(UIRequest)
        case fieldOff(milliseconds: UInt64)
        case activated(CardActivation)
        case collided
        case emptied
        case exchanged(CommandAPDU, Transcript.Answer)
        case authenticated(Authentication)
        /// The card wanted so many taps, and gets no other one.
        case tapLimit(Int)
        /// No card came, or the reader failed while waiting for one.
        case interrupted(ReaderError)
        case finished(FinalOutcome)
    }

    /// One offline data authentication that a kernel asked for.
    public struct Authentication: Equatable, Sendable {
        public enum Method: String, Sendable {
            case sda = "SDA"
            case dda = "fDDA"
            case cda = "CDA"
        }

        public let method: Method
        /// CA public key index (8F).
        public let caIndex: UInt8
        /// `nil` where the signatures are right.
        public let failure: AuthenticationFailure?
        /// Bytes of records that were signed, the AIP included where it was.
        public let signedBytes: Int
    }

    public let configuration: TerminalConfiguration
    public let transaction: Transaction
    public let events: [Event]
    /// The last of all outcomes.
    public let outcome: FinalOutcome

    /// After how many taps a card that wants another one was given up; `nil` where it was not.
    public var tapLimit: Int? {
        for event in events { if case .tapLimit(let count) = event { return count } }
        return nil
    }

    /// What ended the wait for a card; `nil` where the transaction ran to its end.
    public var interruption: ReaderError? {
        for event in events { if case .interrupted(let error) = event { return error } }
        return nil
    }
}

extension TapTrace: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<trace of \(events.count) events>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
