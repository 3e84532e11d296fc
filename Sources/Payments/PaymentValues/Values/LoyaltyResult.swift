// SPDX-License-Identifier: Apache-2.0
/// What a wish for passes came to. The passes in it are gone one minute after the transaction has ended: they are never
/// written down.
public struct LoyaltyResult: Codable, Equatable, Sendable {
    public enum Wallet: String, Codable, CaseIterable, Sendable {
        case apple, google
    }

    /// What the customer should do.
    public enum CustomerAction: String, Codable, CaseIterable, Sendable {
        case nothing, unlockPhone, choosePass, presentAgain, presentOneCardOnly, followSignUp, askStaff
    }

    /// Of the phone that answered last; missing for anything else.
    public var wallet: Wallet?
    public var customerAction: CustomerAction
    /// The same in words for the customer, in the language of the request; missing for `nothing`.
    public var customerText: String?
    /// One for each programme, by priority.
    public var programmes: [Entry]

    public init(
        wallet: Wallet? = nil, customerAction: CustomerAction, customerText: String? = nil, programmes: [Entry]
    ) {
        self.wallet = wallet
        self.customerAction = customerAction
        self.customerText = customerText
        self.programmes = programmes
    }

    /// What one programme's wish came to.
    public struct Entry: Codable, Equatable, Sendable {
        /// Its id in the configuration.
        public var id: String
        /// What the customer reads, at most 22 characters.
        public var displayName: String
        public var status: Status
        /// Status word of the phone, four hexadecimal digits, where it explains the status.
        public var statusWord: String?
        public var pass: Pass?

        public init(id: String, displayName: String, status: Status, statusWord: String? = nil, pass: Pass? = nil) {
            self.id = id
            self.displayName = displayName
            self.status = status
            self.statusWord = statusWord
            self.pass = pass
        }
    }

    public enum Status: String, Codable, CaseIterable, Sendable {
        case delivered
        /// The phone took the address where its user can join.
        case signUpSent
        case noPass
        case locked
        /// The user has to choose or confirm on the phone.
        case choiceNeeded
        case unsupportedVersion
        /// The wallet takes the request for wrong: configuration or a fault of the terminal.
        case refused
        /// The wallet does not accept this terminal's key.
        case authenticationFailed
        case transientFailure
        /// The wallet answers no more until the phone has left the field.
        case busy
        /// Something came, but it cannot be used.
        case unreadable
        /// The phone says that it made the pass too long ago: a recorded one, or a clock that is behind.
        case tooOld
        /// The phone says that it made the pass later than now: its clock or the daemon's is wrong.
        case clockOff
        /// The same pass was read a moment ago.
        case repeated
        /// The card's identifier is no member number.
        case unsuitable
        /// The wallet needs a key that is not configured.
        case keyMissing
        /// A status word that the protocol does not know.
        case unexpectedStatus
        case cardLost
        case notAsked
    }

    /// A pass as it was given.
    public struct Pass: Codable, Equatable, Sendable {
        public enum Carrier: String, Codable, CaseIterable, Sendable {
            case apple, google, tag, uid
        }

        public var carrier: Carrier
        /// The member number or message; missing where the pass is sealed or has none.
        public var member: String?
        /// For whoever holds the merchant's key: the sealed pass of an iPhone, hexadecimal.
        public var cryptogram: String?
        /// When the phone says that it made the pass, by its own clock.
        public var madeAt: Timestamp?
        /// Whether the session proved that a wallet sent it.
        public var isAuthentic: Bool
        /// Everything that an Android phone sent.
        public var objects: [Object]?

        public init(carrier: Carrier, isAuthentic: Bool) {
            self.carrier = carrier
            self.isAuthentic = isAuthentic
        }
    }

    /// One object of Smart Tap.
    public struct Object: Codable, Equatable, Sendable {
        /// Two or three letters, as the protocol names it: `ly` for loyalty, `cus` for the customer record.
        public var kind: String
        /// By the protocol's names of the fields; text as it is, binary values in hexadecimal.
        public var values: [String: String]

        public init(kind: String, values: [String: String]) {
            self.kind = kind
            self.values = values
        }
    }

    /// The same without anything that was in a pass.
    public var withoutPasses: LoyaltyResult {
        var result = self
        for index in result.programmes.indices { result.programmes[index].pass = nil }
        return result
    }
}

extension LoyaltyResult: CustomStringConvertible, CustomReflectable {
    public var description: String { "<loyalty result, \(programmes.count) programmes>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
