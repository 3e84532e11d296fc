// SPDX-License-Identifier: Apache-2.0
/// A PIN as an approved device gives it: enciphered inside the device with keys that only the payment service has. It is in
/// the authorisation and nowhere else: no log, no journal, no answer to a till. It has a stored property for each member.
public struct OnlinePIN: Codable, Equatable, Sendable {
    /// What the device says of itself.
    public struct Device: Codable, Equatable, Sendable {
        public var serial: String
        /// The number of its approval; `nil` for one in software.
        public var approval: String?

        public init(serial: String, approval: String? = nil) {
            self.serial = serial
            self.approval = approval
        }
    }

    /// Of this entry, new for each.
    public var attempt: PINAttemptID
    /// ISO 9564-1: 0, 3 or 4.
    public var format: Int
    /// The device's name for the keys.
    public var keySet: String
    /// `AES-128`, `TDES` and the like.
    public var algorithm: String
    /// Key serial number, where the keys are derived.
    public var ksn: String?
    /// In hexadecimal: 16 digits, or 32 in format 4.
    public var block: String
    public var device: Device

    public init(
        attempt: PINAttemptID, format: Int, keySet: String, algorithm: String, ksn: String?, block: String,
        device: Device
    ) {
        self.attempt = attempt
        self.format = format
        self.keySet = keySet
        self.algorithm = algorithm
        self.ksn = ksn
        self.block = block
        self.device = device
    }
}

extension OnlinePIN: CustomStringConvertible, CustomReflectable {
    public var description: String { "online PIN \(attempt)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Identity of one entry of a PIN: a UUID of version 7.
public typealias PINAttemptID = OperationID

/// With the events `pin.…`: who asks the customer for a PIN, and what came of it.
public struct PINNotice: Codable, Equatable, Sendable {
    /// Why it is asked for.
    public enum Cause: String, Codable, CaseIterable, Sendable {
        /// Card and terminal have agreed on it.
        case kernel
        /// The issuer has asked for it with its answer.
        case issuer
    }

    public enum State: String, Codable, CaseIterable, Sendable {
        case entered, cancelled, timedOut, failed
    }

    /// The device's name in the configuration.
    public var device: String
    public var cause: Cause
    /// Seconds for the customer, with `pin.requested`.
    public var timeout: Int?
    /// With `pin.requested`, where the till has asked for it.
    public var accessible: Bool?
    /// With `pin.completed`.
    public var state: State?

    public init(device: String, cause: Cause = .kernel, timeout: Int? = nil, state: State? = nil) {
        self.device = device
        self.cause = cause
        self.timeout = timeout
        self.state = state
    }
}
