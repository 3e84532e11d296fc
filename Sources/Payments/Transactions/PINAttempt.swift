// SPDX-License-Identifier: Apache-2.0
public import PINDeviceAPI
import POSAPI
public import PaymentValues

/// One entry of a PIN as the journal has it: nothing of the PIN, nothing of the card.
public struct PINAttempt: Equatable, Sendable {
    public enum State: String, Equatable, Sendable {
        case asked
        /// Entered, and on its way to the payment service.
        case sent
        case cancelled, timedOut, failed
    }

    public var id: PINAttemptID
    /// The device's name in the configuration.
    public var device: String
    public var format: Int
    public var keySet: String
    public var state = State.asked

    public init(id: PINAttemptID, device: String, format: Int, keySet: String) {
        self.id = id
        self.device = device
        self.format = format
        self.keySet = keySet
    }
}

/// What a read needs before it can be sent: a PIN.
public struct PINRequest: Equatable, Sendable {
    public var attempt: PINAttempt
    /// JWE to the device's key.
    public var account: String
    /// The issuer allows one more.
    public var isLastTry = false

    public init(_ attempt: PINAttempt, account: String) {
        self.attempt = attempt
        self.account = account
    }
}

extension PINRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "demand for a PIN \(attempt.id)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What came back from the device.
public enum PINReply: Equatable, Sendable {
    case entered(OnlinePIN)
    /// By the customer, who may call it a bypass: the card has been told that a PIN comes, and a payment without it would be
    /// a false statement to the issuer.
    case cancelled
    case timedOut
    /// The device cannot, or is not there any more.
    case failed
}

/// Where an issuer has declined, and the customer is asked for the PIN that may change that.
public struct PINChallenge: Sendable {
    var read: Read
    let demand: PINRequest
    /// What it ends with where no PIN comes.
    let decline: PaymentResult
    let card: MaskedCard?
    /// Number of the question that was answered so.
    let question: Int
    let keyLife: Duration
    /// Then it is too late.
    let until: Int64
}

/// Where a PIN is awaited.
public struct PINWait: Sendable {
    var read: Read
    let demand: PINRequest
    /// Then it is too late.
    let until: Int64
    /// Who wants it cancelled, and waits for word of it.
    var wishes: [RequestID] = []
}
