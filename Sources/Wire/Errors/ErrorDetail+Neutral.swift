extension ErrorDetail {
    /// The same error without a word about payments, for reads of a card that are none (requirement 31): the catalogue's
    /// English, reworded.
    public var neutral: ErrorDetail {
        var error = self
        error.message = error.message.withoutPaymentWords
        error.resolution = error.resolution.withoutPaymentWords
        error.next = error.next?.filter { $0 != .otherMethod && $0 != .paymentLink }
        return error
    }
}

extension String {
    fileprivate var withoutPaymentWords: String {
        var text = self
        for (words, others) in String.neutralWords { text = text.replacing(words, with: others) }
        return text.first.map { $0.uppercased() + text.dropFirst() } ?? text
    }

    /// In this order: what holds another comes before it.
    private static let neutralWords = [
        ("nothing was sent and nothing was charged", "nothing was sent"), ("; nothing was charged", ""),
        ("Use another way to pay; the payment is reversed should it have been booked", "Start again in a while"),
        ("Use another card or another way to pay", "Use another card"), (", or another way to pay", ""),
        ("without a payment application", "without an application"),
        ("Payment declined by the card", "Declined by the card"), ("Pay at a terminal", "Use a terminal"),
        ("Start again if the payment is still wanted", "Start again if it is still wanted"),
        ("Order with a payment whose", "Order with a transaction whose"),
        ("the payment that is named", "the one that is named"),
        ("payment adapter", "adapter"), ("Payment adapter", "Adapter"), ("payment service", "service"),
        ("Payment", "Transaction"), ("payments", "transactions"), ("payment", "transaction"), ("charged", "booked"),
    ]
}
