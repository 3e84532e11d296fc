// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// A request for a transaction, with who asks.
public struct AdmissionRequest: Sendable {
    /// What admission fills in is not in `requestHash`.
    public var request: TransactionRequest
    public let key: PrincipalKey
    /// Digest of the request.
    public let requestHash: String
    /// Lanes that whoever asks may use; `nil` for all.
    public let lanes: Set<String>?
    /// Of the request as it came.
    public let bytes: Int
    /// With what a backend far away asks for: whose order it is.
    public var origin: OrderOrigin?
    /// The tap on a lane that stands alone that it comes from; `nil` for what a client asks for.
    public var standing: StandingTap?

    public init(
        request: TransactionRequest, key: PrincipalKey, requestHash: String, lanes: Set<String>? = nil, bytes: Int = 0
    ) {
        self.bytes = bytes
        self.request = request
        self.key = key
        self.requestHash = requestHash
        self.lanes = lanes
    }
}

/// Who has signed an order of a backend far away, as the program says that passes it on. Its name is the idempotency key.
public struct OrderOrigin: Equatable, Sendable {
    public var signer: String?
    /// Name of the key, `kid`.
    public var key: String?

    public init(signer: String? = nil, key: String? = nil) { (self.signer, self.key) = (signer, key) }
}

/// What comes of a request for a transaction.
public enum Admission: Equatable, Sendable {
    case created(Transaction)
    /// The answer to the first request with this key, as things are now.
    case repeated(Transaction)
    case refused(ErrorBody)
    /// A dry run: nothing was written down.
    case acceptable(DryRunAnswer)

    public static func refused(_ code: ErrorCode, field: String? = nil, by id: TransactionID? = nil) -> Admission {
        .refused(ErrorBody(code, field: field, transaction: id))
    }
}

/// What the daemon's other parts have to say about a request before the lanes are looked at.
public struct AdmissionFacts: Sendable {
    public var mode: Mode
    public var isStopping = false
    /// Why the wanted passes cannot be asked for.
    public var passesRefusal: ErrorBody?
    /// What terms, profile and mode have against a payment.
    public var paymentRefusal: ErrorBody?
    /// A payment of the same order whose outcome is not known.
    public var unresolved: TransactionID?
    /// A purchase that has paid the same order in full.
    public var paid: TransactionID?
    /// Lanes that whoever asks may use; `nil` for all.
    public var lanes: Set<String>?

    public init(mode: Mode) { self.mode = mode }
}

extension LaneTable {
    /// Everything that decides about a request, without doing anything.
    ///
    /// - Returns: the lanes that may get the card, at least one; none where no card is read.
    public func admit(_ request: TransactionRequest, _ facts: AdmissionFacts) -> Result<[String], ErrorBody> {
        guard !facts.isStopping else { return .failure(ErrorBody(.daemonUnavailable)) }
        if let refusal = facts.passesRefusal { return .failure(refusal) }
        let isPayment = request.type != .loyalty
        if isPayment, let refusal = facts.paymentRefusal { return .failure(refusal) }
        var found: [String] = []
        if request.asksForCard {
            switch free(for: request, within: facts.lanes) {
            case .failure(let refusal): return .failure(refusal)
            case .success(let names): found = names
            }
        }
        // A read of passes charges nobody, so that it neither waits for a payment nor keeps one waiting.
        if isPayment, let other = facts.unresolved {
            return .failure(ErrorBody(.orderUnresolved, transaction: other))
        }
        if request.type.isPayment, request.allowRepeat != true, let paid = facts.paid {
            return .failure(ErrorBody(.orderPaid, transaction: paid))
        }
        if facts.mode == .live, isPayment, found.contains(where: { self[$0]?.isVirtual ?? false }) {
            return .failure(ErrorBody(.liveVirtualReader, field: "lane"))
        }
        return .success(found)
    }
}
