// SPDX-License-Identifier: Apache-2.0
public import PSPAPI
public import PaymentValues

/// A charge as it is sent, with the card that it is of.
public struct StoredCharge: Equatable, Sendable {
    public var request: ChargeRequest
    public var card: MaskedCard

    public init(_ request: ChargeRequest, of card: MaskedCard) {
        self.request = request
        self.card = card
    }
}

/// What a transaction was asked for and what holds for it: laid down when it begins, unchanged to its end whatever the
/// configuration becomes. It has a stored property for each thing that is laid down.
public struct TransactionParameters: Sendable {
    public var kind: AuthorizationRequest.Kind
    /// Who asked.
    public var owner: Principal
    /// Seconds for the card to be presented.
    public var deadline = Limits.defaultDeadlineSeconds
    /// When the wait for a card ends whatever `deadline` says, by both clocks; `nil` for no such time.
    public var notAfter: Moment?
    /// Goes on when its client has gone.
    public var isDetached = true
    /// Seconds within which an approval has to be confirmed.
    public var confirmWithin: Int?
    /// The same for one that may be the sale before once more.
    public var confirmRepeatWithin: Int?
    /// Of what the customer reads, BCP 47.
    public var language: String?
    public var wantsPasses = false
    /// A customer who is asked for a PIN has all of the time for it.
    public var isAccessible = false
    /// Lanes that were free for it, in the order in which they were named.
    public var lanes: [String] = []
    /// Failed reads after which there is no other try.
    public var maximumReads = Int.max
    /// Failed reads of the same order before this transaction.
    public var earlierFailedReads = 0
    public var times = AdapterTimes()
    /// How long the service keeps keys: for longer after the first time nothing is sent to it again.
    public var keyLife = Self.defaultKeyLife
    /// The stored card that is charged; `nil` where one is read.
    public var charge: StoredCharge?
    /// What is read is kept until a machine claims it; `nil` where it is sent at once.
    public var kept: KeptTap?
    /// What is read is given to whoever asks the payment service about approved payments, and this ends with it.
    public var isHandedOver = false
    /// The link that the customer pays by, or the hand-over to the terminal where.
    public var link: LinkRequest?
    /// Another way to pay can go on with what a card gave that wanted a PIN.
    public var keepsRead = false
    /// What is read is to be stored by the payment service under a name of its own, as was agreed.
    public var storing: Agreement?

    /// Of a service that says nothing of it.
    public static let defaultKeyLife: Duration = .seconds(AdapterHealth.defaultKeyLife)

    /// No lane is asked for a card.
    var isWithoutCard: Bool { charge != nil || link != nil }

    public init(kind: AuthorizationRequest.Kind, owner: Principal) {
        self.kind = kind
        self.owner = owner
    }
}

/// How a read is kept on a lane that stands alone, until its machine says whether it is to be sent.
public struct KeptTap: Equatable, Sendable {
    /// Number of the tap on its lane.
    public var tap: Int64
    /// How long; never until the read is too old to be sent.
    public var time: Duration

    public init(tap: Int64, time: Duration) { (self.tap, self.time) = (tap, time) }
}

extension TransactionParameters {
    /// How long a card is waited for from `now` on, in milliseconds; 0 where its time is over.
    ///
    /// A machine that slept has lost no time on the monotonic clock, and a wall clock that was set back gives none back: the
    /// shorter of the two counts.
    public func cardTime(at now: Moment) -> Int64 {
        let wanted = Int64(deadline) * 1_000
        guard let notAfter else { return wanted }
        return max(0, min(wanted, now.left(until: notAfter)))
    }

    /// Whether a card comes so late that the machine has slept meanwhile: a reader's own wait ends in time.
    func isPast(at now: Moment) -> Bool {
        notAfter.map { now.left(until: $0) < -TransactionMachine.readerTime.milliseconds } ?? false
    }
}
