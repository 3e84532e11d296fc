// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

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
