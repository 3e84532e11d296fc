// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a PIN device's driver says of it: `GET /v1/device`. See docs/integrating/pin-devices.md. It has a stored property for each member.
public struct PINDeviceStatus: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case ready, busy, notReady

        /// A word of a later version is not ready.
        public init(from decoder: any Decoder) throws {
            self = State(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .notReady
        }
    }

    /// Under which programme it was approved.
    public struct Approval: Codable, Equatable, Sendable {
        public var scheme: String
        public var number: String
        /// `YYYY-MM-DD`.
        public var expires: String?

        public init(scheme: String, number: String, expires: String? = nil) {
            self.scheme = scheme
            self.number = number
            self.expires = expires
        }
    }

    /// Keys that PINs are enciphered with.
    public struct KeySet: Codable, Equatable, Sendable {
        public var id: String
        public var formats: [Int]
        public var algorithm: String

        public init(id: String, formats: [Int], algorithm: String) {
            self.id = id
            self.formats = formats
            self.algorithm = algorithm
        }
    }

    public var model: String
    public var serial: String
    public var firmware: String?
    public var approval: Approval?
    /// It is software.
    public var simulator: Bool
    /// `kid` of each key that the account may be sealed to.
    public var accountKeys: [String]
    public var keySets: [KeySet]
    public var languages: [String]?
    /// What it offers people who cannot see its screen: `tactile5`, `speech`, `largeText`.
    public var accessibility: [String]?
    public var state: State

    public init(
        model: String, serial: String, simulator: Bool, accountKeys: [String], keySets: [KeySet], state: State
    ) {
        self.model = model
        self.serial = serial
        self.simulator = simulator
        self.accountKeys = accountKeys
        self.keySets = keySets
        self.state = state
    }
}

/// Body of the device's `POST /v1/pin-entries`. It has a stored property for each member.
public struct PINEntryRequest: Codable, Equatable, Sendable {
    public var id: PINAttemptID
    public var mode: Mode
    public var transaction: TransactionID
    /// To be shown by the device itself.
    public var amount: Money
    /// BCP 47; the device's first where it is left out.
    public var language: String?
    /// JWE to the device's key: what of the card number goes into the block.
    public var account: String
    public var format: Int
    public var keySet: String
    /// Seconds.
    public var timeout: Int
    /// A wrong PIN has been entered before, and the issuer allows this one more.
    public var lastTry: Bool?
    /// Speak, and write large. The time is all that there is.
    public var accessible: Bool?

    public init(
        id: PINAttemptID, mode: Mode, transaction: TransactionID, amount: Money, account: String, format: Int,
        keySet: String, timeout: Int
    ) {
        self.id = id
        self.mode = mode
        self.transaction = transaction
        self.amount = amount
        self.account = account
        self.format = format
        self.keySet = keySet
        self.timeout = timeout
    }
}

extension PINEntryRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "entry of a PIN \(id)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The device's answer about an entry. It has a stored property for each member.
public struct PINEntry: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case waiting
        /// A key was pressed; which, and how many, nobody says.
        case entering
        case entered, bypassed, cancelled, timedOut, failed

        /// A word of a later version has not brought a PIN.
        public init(from decoder: any Decoder) throws {
            self = State(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .failed
        }
    }

    public var id: PINAttemptID
    public var state: State
    /// With `failed`: `tampered`, `noKeys`, `keyExhausted`, `busy`, `deviceLost`, `accountUnreadable`.
    public var error: String?
    /// With `entered`, once.
    public var format: Int?
    public var keySet: String?
    public var algorithm: String?
    public var ksn: String?
    public var block: String?

    public init(id: PINAttemptID, state: State) {
        self.id = id
        self.state = state
    }
}

extension PINEntry: CustomStringConvertible, CustomReflectable {
    public var description: String { "entry of a PIN \(id): \(state.rawValue)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
