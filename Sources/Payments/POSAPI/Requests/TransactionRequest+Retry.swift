// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

extension TransactionRequest {
    /// The same request with what it leaves to the sale that it tries once more.
    ///
    /// - Returns: `nil` where that sale cannot be tried again by it: it is no sale, has not ended, has moved money, or is of another
    ///   order.
    public func completed(by earlier: Transaction) -> TransactionRequest? {
        guard type.isSale, earlier.type.isSale, earlier.hasEndedWithoutMoney else { return nil }
        // These take the money at once: what was to be held only is no such sale.
        guard !type.isPaidElsewhere || earlier.details?.isPreauthorization != true else { return nil }
        guard order.map({ $0 == earlier.order }) ?? true else { return nil }
        var request = self
        request.order = earlier.order
        guard amount == Money.none else { return request }
        request.amount = earlier.amount
        request.items = earlier.details?.items
        request.language = language ?? earlier.details?.language
        guard type == .purchase else { return request }
        request.amountStatus = amountStatus ?? earlier.details?.amountStatus
        request.description = earlier.details?.description
        return request
    }
}

extension Transaction {
    /// It has ended, and nothing was taken, held or stored.
    public var hasEndedWithoutMoney: Bool {
        switch state {
        case .declined, .cancelled, .failed: settlement?.outcome != .charged
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown, .stored, .approved, .delivered,
            .reversing, .reversed, .completed:
            false
        }
    }

    /// What can be asked for in its place, with the request that does it: beside `next`, for programs.
    public var alternatives: [Alternative]? {
        guard type.isSale, hasEndedWithoutMoney else { return nil }
        let next = result?.next ?? error?.next ?? []
        var kinds = [NextStep.retrySameCard, .otherCard].filter(next.contains)
        let isHold = details?.isPreauthorization == true
        if offersLink, !isHold, next.contains(.paymentLink) { kinds.append(.paymentLink) }
        var alternatives = kinds.map {
            Alternative(kind: $0, request: .init($0 == .paymentLink ? .link : .purchase, retryOf: id))
        }
        if !isHold, next.contains(.otherInterface) {
            alternatives += offeredTerminals.map {
                Alternative(kind: .otherInterface, request: .init(.handover, retryOf: id, to: $0))
            }
        }
        return alternatives.isEmpty ? nil : alternatives
    }
}

extension TransactionType {
    /// A customer pays for something, and is there.
    public var isSale: Bool {
        switch self {
        case .purchase, .link, .handover: true
        case .refund, .verification, .loyalty, .charge: false
        }
    }

    /// The payment service has the customer pay, by no card that is read here: only its word ends it.
    public var isPaidElsewhere: Bool { self == .link || self == .handover }

    /// Money goes to the shop, and can be given back by a refund that names it.
    public var isPayment: Bool { isSale || self == .charge }
}

/// A next step that the daemon carries out, and the body of `POST /v1/transactions` that asks for it.
public struct Alternative: Codable, Equatable, Sendable {
    public struct Request: Codable, Equatable, Sendable {
        public var type: TransactionType
        public var retryOf: TransactionID
        /// With a hand-over: the terminal.
        public var to: String?

        public init(_ type: TransactionType = .purchase, retryOf: TransactionID, to: String? = nil) {
            (self.type, self.retryOf, self.to) = (type, retryOf, to)
        }
    }

    public var kind: NextStep
    public var request: Request

    public init(kind: NextStep, request: Request) {
        self.kind = kind
        self.request = request
    }
}
