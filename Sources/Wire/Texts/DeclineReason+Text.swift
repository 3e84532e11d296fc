extension DeclineReason {
    /// In words for the person at the till; noun phrases without a final period. A receipt for the customer leaves out
    /// what accuses.
    public func text(in language: Language) -> String {
        switch language {
        case .english: english
        case .german: german
        }
    }

    private var english: String {
        switch self {
        case .referToIssuer: "Call to the card's issuer needed"
        case .notAccepted: "Not accepted by the card's issuer"
        case .invalidTransaction: "Transaction not possible with this card"
        case .invalidCard: "Unknown card number"
        case .lostCard: "Card reported lost"
        case .stolenCard: "Card reported stolen"
        case .insufficientFunds: "Insufficient funds"
        case .expiredCard: "Expired card"
        case .wrongPIN: "Wrong PIN"
        case .notPermitted: "Not permitted with this card"
        case .suspectedFraud: "Suspicion of fraud"
        case .limitExceeded: "Limit of the card exceeded"
        case .otherInterfaceNeeded: "Chip or PIN needed"
        case .issuerUnavailable: "Card's issuer not available"
        case .cardDeclined: "Declined by the card"
        case .hostTimeout: "No answer in time"
        case .cancelledAfterSending: "Cancelled after it was sent"
        case .notConfirmed: "Not confirmed by the till in time"
        case .takenBack: "Taken back by the shop"
        }
    }

    private var german: String {
        switch self {
        case .referToIssuer: "Rückfrage beim Kartenherausgeber nötig"
        case .notAccepted: "Vom Kartenherausgeber nicht angenommen"
        case .invalidTransaction: "Vorgang mit dieser Karte nicht möglich"
        case .invalidCard: "Unbekannte Kartennummer"
        case .lostCard: "Karte als verloren gemeldet"
        case .stolenCard: "Karte als gestohlen gemeldet"
        case .insufficientFunds: "Deckung nicht ausreichend"
        case .expiredCard: "Abgelaufene Karte"
        case .wrongPIN: "Falsche PIN"
        case .notPermitted: "Mit dieser Karte nicht erlaubt"
        case .suspectedFraud: "Verdacht auf Missbrauch"
        case .limitExceeded: "Limit der Karte überschritten"
        case .otherInterfaceNeeded: "Chip oder PIN nötig"
        case .issuerUnavailable: "Kartenherausgeber nicht erreichbar"
        case .cardDeclined: "Von der Karte abgelehnt"
        case .hostTimeout: "Keine Antwort in der vorgesehenen Zeit"
        case .cancelledAfterSending: "Nach dem Senden abgebrochen"
        case .notConfirmed: "Von der Kasse nicht rechtzeitig bestätigt"
        case .takenBack: "Vom Händler zurückgenommen"
        }
    }
}
