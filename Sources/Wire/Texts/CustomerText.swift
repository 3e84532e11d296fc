extension LoyaltyResult.CustomerAction {
    /// What to say to the customer; `nil` where there is nothing to do.
    ///
    /// - Parameter language: BCP 47; English for every one but German.
    public func text(in language: String?) -> String? {
        switch Language(tag: language) {
        case .english: english
        case .german: german
        }
    }

    private var english: String? {
        switch self {
        case .nothing: nil
        case .unlockPhone: "Unlock your phone and hold it here again"
        case .choosePass: "Choose your pass on the phone and hold it here again"
        case .presentAgain: "Hold it here again"
        case .presentOneCardOnly: "Hold only one card or phone here"
        case .followSignUp: "Follow the invitation on your phone"
        case .askStaff: "Please ask our staff"
        }
    }

    private var german: String? {
        switch self {
        case .nothing: nil
        case .unlockPhone: "Entsperren Sie das Telefon und halten Sie es noch einmal hierher"
        case .choosePass: "Wählen Sie die Karte auf dem Telefon und halten Sie es noch einmal hierher"
        case .presentAgain: "Bitte noch einmal hierher halten"
        case .presentOneCardOnly: "Bitte nur eine Karte oder ein Telefon hierher halten"
        case .followSignUp: "Folgen Sie der Einladung auf dem Telefon"
        case .askStaff: "Bitte fragen Sie unser Personal"
        }
    }
}

extension EventName {
    /// What to say to the customer when it happens; `nil` where there is nothing to do for them.
    ///
    /// - Parameter language: BCP 47; English for what has no texts.
    public func customerText(in language: String?) -> String? {
        switch (self, Language(tag: language)) {
        case (.readReadyForTap, .english): "Hold your card or phone here"
        case (.readReadyForTap, .german): "Karte oder Telefon bitte hierher halten"
        case (.readRetry, .english): "Hold it here again, alone and still"
        case (.readRetry, .german): "Bitte noch einmal allein und ruhig hierher halten"
        case (.readRemoveCard, .english): "You can take your card away"
        case (.readRemoveCard, .german): "Die Karte kann weggenommen werden"
        case (_, _): nil
        }
    }
}
