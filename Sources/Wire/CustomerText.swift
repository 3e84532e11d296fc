extension LoyaltyResult.CustomerAction {
    /// What to say to the customer; `nil` where there is nothing to do.
    ///
    /// - Parameter language: BCP 47; English for every one but German.
    public func text(in language: String?) -> String? {
        language?.lowercased().split(separator: "-").first == "de" ? german : english
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
