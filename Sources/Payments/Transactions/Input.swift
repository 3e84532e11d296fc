// SPDX-License-Identifier: Apache-2.0
public import PINDeviceAPI
public import POSAPI
public import PSPAPI
public import PaymentValues
public import StoreAndForward

/// Something that a client wishes and waits for; its answer names it.
public struct RequestID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// What was read from a card and sealed, with what the rules of storing have to know of it.
public struct Read: Equatable, Sendable {
    public var request: AuthorizationRequest
    public var sale: OfflineSale
    public var chip: ChipData?
    /// When it was sealed.
    public var at: Timestamp
    /// The same card has paid the same amount on the same lane minutes ago: in that transaction.
    public var repeats: TransactionID?
    /// A PIN is wanted before it can be sent.
    public var pin: PINRequest?
    /// What the customer can be asked for a PIN with where the issuer wants one: each once.
    public var spares: [PINRequest] = []
    /// When the machine took it over, on the monotonic clock.
    var takenAt: Int64 = 0
    /// What the device has given.
    var entered: OnlinePIN?
    /// The reader has let the card go while the PIN was awaited.
    var hasLeft = false

    public init(request: AuthorizationRequest, sale: OfflineSale, chip: ChipData?, at: Timestamp) {
        self.request = request
        self.sale = sale
        self.chip = chip
        self.at = at
    }

    /// As it is sent: with the PIN, which nothing else gets, and with what holds for this read only.
    var message: AuthorizationRequest {
        var message = request
        message.pin = entered
        message.features = spares.isEmpty ? nil : [.singleTap]
        return message
    }
}

/// How a payment follows the passes that were read before it.
public enum PaymentAfterPasses: Equatable, Sendable {
    /// On the card as it lies there.
    case sameActivation
    case afterFieldReset
    /// The customer has to present it again.
    case afterRemoval
}

/// What came back from the payment service to an authorisation or to a question about one.
public enum Reply: Equatable, Sendable {
    case answered(AuthorizationAnswer)
    /// The adapter is still at it.
    case running
    /// The adapter never saw it.
    case neverSeen
    /// The adapter took it for a wrong request: it has certainly not been carried out.
    case refused
    /// Something on the way to the adapter says that it has passed it on to nobody (421).
    case notDelivered
    /// Silence, garbage, or a fault of the adapter: whether it was carried out is not known.
    case unusable
}

/// What came back to a reversal.
public enum Acknowledgement: Equatable, Sendable {
    case acknowledged
    case neverSeen
    case none
    /// Nobody knows how to reach the service that it belongs to, and no other one is asked.
    case notAsked
}

/// Why the journal did not take a write.
public enum WriteFailure: Equatable, Sendable {
    case full, failed
    /// Its state there does not lead to the one that was to be written.
    case illegal
    /// What was to be changed has changed meanwhile.
    case superseded
    /// A payment that may not be stored.
    case notStorable(ErrorCode)
    /// A payment that no person can settle: why.
    case notSettled(ErrorCode)
    /// A stored card that may not be charged any more: why.
    case notAllowed(ErrorCode)

    var code: ErrorCode {
        switch self {
        case .full: .storageFull
        case .failed: .storageFailed
        case .illegal, .superseded: .internalFault
        case .notStorable(let code), .notSettled(let code), .notAllowed(let code): code
        }
    }
}

/// Everything that can happen to a transaction.
public enum Input: Sendable {
    // From the host.
    /// It is in the journal; its run begins.
    case begin
    /// An earlier run of the daemon left it open, in the state that it is in.
    ///
    /// - Parameter isPINAwaited: the journal has a PIN that the customer was asked for, and no end of that.
    case recover(isPINAwaited: Bool = false)

    // From the lanes' preparation.
    /// No lane is ready yet; there will be word of it.
    case preparing
    case prepared([String])
    case notPrepared(ErrorCode)

    // From the lanes.
    case ready(lane: String)
    /// The first card is on this lane.
    case won(lane: String)
    /// A card lies there from before.
    case cardLeft(lane: String)
    /// More than one card.
    case collision(lane: String)
    /// Something is there that does not answer as a card.
    case unreadable(lane: String)
    /// The reader waits for a card again: the one that lies there is activated anew.
    case cardAwaited
    /// A presentation has come to nothing: the card has left the field, or has stayed and was tried for long enough.
    case presentationFailed
    /// What lies on this lane takes no commands (no ISO/IEC 14443-4), and has been there for a moment.
    case targetUnsupported(lane: String)
    /// What the kernel wants the customer to see.
    case message(CardholderMessage)
    case cardDetected
    /// Phone or member card have to be presented again, to give a pass.
    case passAgain(LoyaltyResult.CustomerAction?)
    /// What the loyalty part found, without the passes.
    case passes(LoyaltyResult, hasPass: Bool, then: PaymentAfterPasses)
    /// Nothing follows the passes.
    case endedWithPasses
    case read(Read)
    /// The card itself said no, or the merchant's deny list did.
    ///
    /// - Parameter read: where it said so for want of a PIN, what it gave, sealed.
    case declinedOffline(MaskedCard?, ChipData?, DeclineReason, read: KeptRead? = nil)
    /// The tap ended with nothing to send.
    ///
    /// - Parameters:
    ///   - withoutApplication: the card, or phone, has nothing to pay with.
    ///   - unsupported: what it has, where that is what was wrong.
    case ended(ErrorCode, withoutApplication: Bool, unsupported: UnsupportedKernel? = nil)
    /// The reader has said that the card was read.
    case cardMayGo
    /// The winner's thread has come back.
    case tapFinished

    // From the PIN device.
    case pin(PINReply, PINAttemptID)

    // From the way to the payment service.
    case connected
    /// Nothing can be sent: no byte has left.
    case notConnected
    /// - Parameter question: the number of what was asked.
    case replied(Reply, question: Int)
    case acknowledged(Acknowledgement, question: Int)
    case linked(LinkReply, question: Int)

    // From the till.
    case cancel(Canceller, RequestID?)
    case reverse(POSAPI.ReversalRequest.Reason, RequestID)
    /// Its approval has been confirmed, and that is written down.
    case confirmed
    /// A machine has claimed what was read and kept, under its own name for it, and that is written down.
    case claimed(as: String, RequestID)
    /// A stored payment is to be forwarded: the service accepts connections, or was asked before.
    ///
    /// - Parameters:
    ///   - keyLife: how long the service keeps keys, as it says now.
    ///   - latest: the latest that it may be; `nil` where the clock is not believed.
    case forward(
        AuthorizationRequest, RequestID, keyLife: Duration = TransactionParameters.defaultKeyLife, latest: Timestamp?)
    /// A person says how it ended.
    case settle(Settlement, RequestID)

    // From the host, while it waits.
    /// The service that it belongs to can be asked again: not only when it is due.
    case hasten

    // From the journal.
    case written(UInt64)
    case notWritten(UInt64, WriteFailure)

    // From the clock.
    case due

    var isOfJournal: Bool {
        switch self {
        case .written, .notWritten, .due: true
        default: false
        }
    }
}
