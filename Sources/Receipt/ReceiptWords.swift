import Wire

/// The words of a receipt in one language.
struct ReceiptWords {
    let language: Language

    init(_ language: Language) { self.language = language }

    private func choose(_ english: String, _ german: String) -> String {
        switch language {
        case .english: english
        case .german: german
        }
    }

    var test: String { choose("*** TEST - NO MONEY MOVES ***", "*** TEST - ES FLIESST KEIN GELD ***") }
    var date: String { choose("Date", "Datum") }
    var terminal: String { choose("Terminal", "Terminal") }
    var order: String { choose("Order", "Vorgang") }
    var number: String { choose("No.", "Nr.") }
    var requested: String { choose("Asked for", "Angefragt") }
    var notCharged: String { choose("Not charged", "Nicht belastet") }
    var pending: String { choose("The final amount may differ", "Der endgültige Betrag kann abweichen") }
    var application: String { choose("Application", "Anwendung") }
    var entry: String { choose("Entry", "Erfassung") }
    var verification: String { choose("Verification", "Prüfung") }
    var account: String { choose("Account", "Konto") }
    var defaultAccount: String { choose("default", "Standard") }
    var approvalCode: String { choose("Approval code", "Genehmigungsnr.") }
    var sequenceNumber: String { choose("Card seq. no.", "Kartenfolgenr.") }
    var reference: String { choose("Reference", "Referenz") }
    var signature: String { choose("Signature", "Unterschrift") }
    var statement: String { choose("On your statement as", "Auf der Abrechnung als") }
    var digital: String { choose("Scan the code for your receipt", "Code für den Beleg scannen") }

    func title(of receipt: Receipt) -> String {
        switch receipt.type {
        case .purchase:
            receipt.description?.isPreauthorization == true || receipt.amountStatus == .preauthorized
                ? choose("PRE-AUTHORISATION", "RESERVIERUNG") : choose("PAYMENT", "ZAHLUNG")
        case .refund:
            receipt.description == .preauthorizationRelease
                ? choose("RELEASE OF PRE-AUTHORISATION", "FREIGABE DER RESERVIERUNG")
                : choose("REFUND", "GUTSCHRIFT")
        case .verification, .loyalty: choose("CARD CHECK", "KARTENPRÜFUNG")
        }
    }

    func name(of copy: Receipt.Copy) -> String {
        switch copy {
        case .customer: choose("Customer copy", "Kundenbeleg")
        case .merchant: choose("Merchant copy", "Händlerbeleg")
        }
    }

    func total(of receipt: Receipt) -> String {
        switch receipt.type {
        case .refund: choose("Total refunded", "Gutgeschrieben")
        case .purchase where receipt.description?.isPreauthorization == true || receipt.amountStatus == .preauthorized:
            choose("Total reserved", "Reserviert")
        case .purchase, .verification, .loyalty: choose("TOTAL", "SUMME")
        }
    }

    func name(of mode: AuthorizationRequest.EntryMode) -> String {
        switch mode {
        case .contactlessEMV: choose("contactless chip", "kontaktlos, Chip")
        case .contactlessMagstripe: choose("contactless stripe", "kontaktlos, Magnetstreifen")
        }
    }

    func name(of verification: ChipData.Verification) -> String {
        switch verification {
        case .none: choose("no CVM", "keine CVM")
        case .device: choose("on the device", "am Gerät")
        case .signature: choose("signature", "Unterschrift")
        case .onlinePIN: choose("online PIN, not entered", "Online-PIN, ohne Eingabe")
        }
    }

    /// - Parameter type: a card check has no payment to speak of.
    func name(of status: Receipt.Status, _ type: TransactionType) -> String {
        switch status {
        case .approved: type == .verification ? choose("CARD VALID", "KARTE GÜLTIG") : choose("APPROVED", "GENEHMIGT")
        case .partiallyApproved: choose("PARTIALLY APPROVED", "TEILWEISE GENEHMIGT")
        case .declined: choose("DECLINED", "ABGELEHNT")
        case .stored: choose("STORED", "GESPEICHERT")
        case .unknown: choose("OUTCOME NOT KNOWN YET", "AUSGANG NOCH NICHT BEKANNT")
        case .reversing, .reversed: choose("REVERSED", "STORNIERT")
        case .cancelled: choose("CANCELLED", "ABGEBROCHEN")
        case .notCompleted: choose("NOT COMPLETED", "NICHT ABGESCHLOSSEN")
        }
    }

    /// What follows from the status, for whoever reads it.
    func explanation(of receipt: Receipt) -> [String] {
        if receipt.type == .verification { return [] }
        switch receipt.status {
        case .approved: return []
        case .partiallyApproved: return [choose("The rest is still to be paid", "Der Rest ist noch zu zahlen")]
        case .declined, .cancelled, .notCompleted:
            return [
                receipt.type == .refund
                    ? choose("Nothing was refunded", "Es wurde nichts gutgeschrieben")
                    : choose("Nothing was charged", "Es wurde nichts belastet")
            ]
        case .stored:
            return [choose("Not approved by the card's issuer yet", "Noch nicht vom Kartenherausgeber genehmigt")]
        case .unknown:
            return [choose("Do not repeat it before it is known", "Bis dahin bitte nicht wiederholen")]
        case .reversing:
            return [
                choose("It does not count any more", "Der Vorgang gilt nicht mehr"),
                choose("Confirmation is still to come", "Die Bestätigung steht noch aus"),
            ]
        case .reversed: return [choose("It does not count any more", "Der Vorgang gilt nicht mehr")]
        }
    }
}
