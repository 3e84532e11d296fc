// SPDX-License-Identifier: Apache-2.0
extension LoyaltyResult.CustomerAction {
    /// What to say to the customer; `nil` if the customer has nothing to do.
    ///
    /// - Parameter language: BCP 47; English for what has no texts.
    public func text(in language: String?) -> String? { Language(tag: language).find(.action(self)) }
}

extension EventName {
    /// What to say to the customer when it happens; `nil` if the customer has nothing to do.
    ///
    /// - Parameter language: BCP 47; English for what has no texts.
    public func customerText(in language: String?) -> String? { Language(tag: language).find(.event(self)) }
}

extension DeclineReason {
    /// In words for the person at the till; noun phrases without a final period. A receipt for the customer leaves out
    /// what accuses.
    public func text(in language: Language) -> String { language.text(.decline(self)) }
}

extension ErrorCode {
    /// Whether a customer or a cashier reads it. What tells an administrator that a PIN device or the payment service is
    /// away is read at the till first.
    public var isToldAtTill: Bool {
        switch entry.who {
        case .customer, .cashier: true
        case .administrator, .integrator, .support: rawValue.hasPrefix("pin.") || rawValue.hasPrefix("psp.")
        }
    }

    /// What happened, and what to do about it; in English where this language has no text for administrators.
    public func texts(in language: Language) -> (message: String, resolution: String) {
        (language.text(.errorMessage(self)), language.text(.errorResolution(self)))
    }

    /// The same without a word about payments, for reads of a card that involve none (requirement 31).
    public func neutralTexts(in language: Language) -> (message: String, resolution: String) {
        let usual = texts(in: language)
        // A language without the usual text has no neutral one, but English may have.
        let language = language.find(.errorMessage(self)) == nil ? Language.english : language
        return (
            language.find(.neutralMessage(self)) ?? usual.message,
            language.find(.neutralResolution(self)) ?? usual.resolution
        )
    }
}

extension ErrorDetail {
    /// The same error without a word about payments. An error that this version does not know says that.
    public func neutral(in language: Language = .english) -> ErrorDetail {
        var error = self
        if let texts = ErrorCode(rawValue: code)?.neutralTexts(in: language) {
            (error.message, error.resolution) = texts
        } else {
            error.message = language.text(.unknownErrorMessage, [.code: code])
            error.resolution = language.text(.unknownErrorResolution)
        }
        error.next = error.next?.filter { $0 != .otherMethod && $0 != .paymentLink }
        return error
    }
}
