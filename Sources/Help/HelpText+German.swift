extension HelpText {
    static func german(_ topic: HelpTopic) -> HelpText {
        switch topic {
        case .taps:
            HelpText(
                "Karten annehmen",
                "Zahlung: Zuerst den endgültigen Betrag mit Trinkgeld und Aufschlag festlegen, dann nfc-tap pay 12.50 EUR oder die Kasse starten. Der Kunde hält Karte, Telefon oder Uhr an den Leser, bis sie gelesen ist, und nimmt sie weg.",
                "Gutschrift: nfc-tap refund 12.50 EUR gibt Geld auf die Karte zurück, die an den Leser gehalten wird.",
                "Kartenprüfungen: nfc-tap verify, look-up und store-card lesen eine Karte ohne Betrag.",
                "Kundenkarten: nfc-tap loyalty liest Kundenkarten in Telefonen und nie eine Zahlungskarte.",
                "Das Vorhalten ist noch nicht die Genehmigung: das Ergebnis abwarten. nfc-tap try übt das alles ohne Geld."
            )
        case .holding:
            HelpText(
                "Wohin die Karte gehalten wird",
                "Eine einzelne Karte oder ein Telefon flach und ruhig etwa eine Sekunde auf die Markierung des Lesers halten. Andere Karten weglegen: Zwei zugleich sind nicht lesbar.",
                "Telefone und Uhren haben ihre Antenne an verschiedenen Stellen; den oberen Rücken des Telefons langsam über die Markierung bewegen. Wo es danach verlangt, muss es entsperrt sein.",
                "Metall unter dem Leser verkleinert sein Feld. Unten stehen die Stellen je Modell, nach Form und Zeichnungen der Hersteller."
            )
        case .retries:
            HelpText(
                "Wenn eine Karte noch einmal vorgehalten werden muss",
                "Eine Karte, die zu früh bewegt wurde, neben einer anderen lag oder zu weit weg war, wird in derselben Zahlung noch einmal verlangt. Belastet wird erst, wenn sie ganz gelesen ist.",
                "Nach einem Fehlschlag dieselbe Karte noch einmal, dann eine andere Karte, dann eine andere Zahlungsart anbieten. Manche Karten bestehen auf Kontaktchip oder PIN: sie an einem Terminal nehmen, das beides hat."
            )
        case .declined:
            HelpText(
                "Abgelehnt",
                "Es wurde nichts belastet. Der Grund wird genannt, wo er bekannt ist: Deckung, Ablauf, Limit, falsche Nummer.",
                "Dieselbe Karte nicht viele Male wiederholen. Eine andere Karte, eine andere Zahlungsart oder einen Zahlungslink anbieten.",
                "Wo der Herausgeber angerufen oder die Karte einbehalten werden soll, den Vorgaben des Zahlungsdienstes folgen und nicht mit dem Kunden darüber streiten."
            )
        case .unknown:
            HelpText(
                "Ausgang unbekannt",
                "Die Zahlung wurde gesendet, und es kam keine klare Antwort. Nicht noch einmal belasten: Der Auftrag ist gesperrt, bis es feststeht.",
                "Der Dienst fragt nach, bis er es weiß, und storniert die Zahlung, falls sie ohne Antwort gebucht wurde. Nach einer Minute nachsehen: nfc-tap status und das Ereignis sagen, wie es ausging.",
                "Kann der Kunde nicht warten, anders zahlen lassen; irrtümlich Gebuchtes wird storniert.")
        case .pin:
            HelpText(
                "PIN und Barrierefreiheit",
                "An diesem System wird keine PIN eingegeben. Kleine Beträge brauchen keine; Telefone und Uhren prüfen ihren Besitzer selbst.",
                "Eine Karte, die eine PIN verlangt, wird mit dem Hinweis auf ein anderes Terminal abgelehnt. Eines bereithalten oder einen Zahlungslink für Kunden, die kein Telefon benutzen können.",
                "Kunden, die die Anzeige nicht sehen, wird es gesagt: wann sie die Karte vorhalten und wann sie gelesen ist. Die Töne für genehmigt, abgelehnt und noch einmal unterscheiden sich auf Lesern mit Summer."
            )
        case .queue:
            HelpText(
                "Wartende Zahlungen",
                "Wo der Zahlungsdienst es erlaubt, wird eine Zahlung, die nicht gesendet werden kann, gespeichert und später gesendet. Vorher ist sie nicht genehmigt: Das Risiko einer Ablehnung trägt das Geschäft.",
                "nfc-tap status zeigt, wie viele warten. Sie vor einer Aktualisierung und in der Frist des Vertrags senden lassen."
            )
        case .receipts:
            HelpText(
                "Belege",
                "nfc-tap receipt druckt den Beleg für Kunden oder Händler, so oft er gebraucht wird. Er sagt, was in dem Augenblick gilt: Eine stornierte Zahlung steht als storniert darauf.",
                "Wo der Zahlungsdienst eine Adresse nennt, bekommt der Kunde den Beleg über einen QR-Code.")
        case .loyalty:
            HelpText(
                "Kundenkarten",
                "Kundenkarten werden mit der Zahlung gelesen oder allein mit nfc-tap loyalty; dann wird nie eine Zahlungskarte verlangt.",
                "Das Telefon muss entsperrt sein. An manchen Lesern muss der Kunde die Karte zuerst öffnen, weil der Leser sie nicht verlangen kann."
            )
        case .checks:
            HelpText(
                "Suchen, Karte speichern, prüfen",
                "Look-up findet frühere Vorgänge einer Karte. Store-card bewahrt sie beim Zahlungsdienst für später auf: Der Kunde muss vorher wissen, wie und warum, und was ihm gesagt wurde, wird als Einwilligung festgehalten. Verify fragt den Herausgeber, ob die Karte gültig ist.",
                "Bei keinem davon geht es um einen Betrag.")
        case .terms:
            HelpText(
                "Bedingungen",
                "Echte Zahlungen brauchen die Bedingungen des Zahlungsdienstes, einmal je Händler von einem Verwalter angenommen. Der Testbetrieb braucht keine.",
                "Sie beim Einrichten annehmen, nicht vor einem Kunden.")
        case .practice:
            HelpText(
                "Üben ohne Geld",
                "nfc-tap try startet in einem eigenen Ordner einen Dienst mit virtuellem Leser und einem gespielten Zahlungsdienst, nimmt eine Zahlung mit einer Karte aus Software an, druckt den Beleg und lässt nichts zurück. Es erreicht nie eine echte Karte, einen echten Leser oder einen echten Zahlungsdienst.",
                "Die letzten beiden Ziffern des Betrags bestimmen den Ausgang, siehe docs/sandbox.md: 12.51 wird wegen fehlender Deckung abgelehnt."
            )
        }
    }
}
