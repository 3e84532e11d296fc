extension ErrorCode {
    /// Message and resolution in a language; the rest of the row is the same in all of them.
    public func texts(in language: Language) -> (message: String, resolution: String) {
        switch language {
        case .english: (entry.message, entry.resolution)
        case .german: german
        }
    }

    private var german: (message: String, resolution: String) {
        switch self {
        case .requestMalformedJSON: ("Inhalt ohne gültiges JSON", "Ein JSON-Objekt in UTF-8 senden")
        case .requestUnknownField:
            ("Unbekanntes Feld in der Anfrage", "Das Feld entfernen oder seinen Namen berichtigen")
        case .requestMissingField: ("Fehlendes Feld in der Anfrage", "Das genannte Feld ergänzen")
        case .requestInvalidField:
            ("Feld mit falschem Typ oder Wert", "Das Feld nach der Beschreibung der Schnittstelle berichtigen")
        case .requestFieldNotApplicable:
            ("Feld, das nicht zu dieser Art von Vorgang gehört", "Das Feld entfernen oder die Art ändern")
        case .requestMalformed: ("Anfrage, die kein gültiges HTTP/1.1 ist", "Immer nur eine HTTP/1.1-Anfrage senden")
        case .requestBodyMissing:
            ("Fehlender Inhalt der Anfrage", "Das JSON-Objekt aus der Beschreibung der Schnittstelle senden")
        case .requestNotJSON: ("Anderer Inhaltstyp als JSON", "Content-Type: application/json senden")
        case .requestHeadTooLarge: ("Kopf der Anfrage über 16 KiB", "Weniger oder kürzere Kopffelder senden")
        case .requestBodyTooLarge: ("Inhalt der Anfrage über 64 KiB", "Einen kleineren Inhalt senden")
        case .requestTooSlow: ("Zu langsam eingetroffene Anfrage", "Die ganze Anfrage auf einmal senden")
        case .requestTooManyConnectionsOfUser:
            ("Zu viele Verbindungen dieses Benutzers", "Nicht benötigte Verbindungen schließen, dann erneut versuchen")
        case .requestTooManyConnections: ("Zu viele Verbindungen zugleich", "In einem Augenblick erneut versuchen")
        case .requestIncomplete: ("Vor ihrem Ende abgebrochene Anfrage", "Die ganze Anfrage senden")
        case .requestPipelined:
            (
                "Weitere Anfrage vor der Antwort auf die vorige",
                "Jede Antwort abwarten oder eine andere Verbindung benutzen"
            )
        case .requestExpectationFailed: ("Andere Erwartung als 100-continue", "Das Kopffeld Expect weglassen")
        case .requestMethodUnknown: ("Methode, die es in HTTP nicht gibt", "GET, POST oder DELETE benutzen")
        case .requestVersionNotSupported: ("Andere Protokollversion als HTTP/1.1", "HTTP/1.1 benutzen")
        case .requestTransferEncoding:
            ("Transfer-Encoding in einer Anfrage", "Den Inhalt mit Content-Length senden")
        case .requestNotAcceptable:
            ("Form der Antwort, die dieser Aufruf nicht hat", "Eine Form annehmen, die der Aufruf hat")
        case .requestUnknownPath:
            ("Unbekannter Pfad", "Einen Pfad der Beschreibung unter /v1/openapi.yaml benutzen")
        case .requestMethodNotAllowed:
            ("Methode, die dieser Pfad nicht hat", "Eine Methode benutzen, die das Kopffeld Allow nennt")
        case .requestInvalidParameter:
            (
                "Parameter oder Kopffeld mit falschem Wert",
                "Den Parameter nach der Beschreibung der Schnittstelle berichtigen"
            )
        case .idempotencyKeyMissing:
            ("Fehlender Idempotency-Key", "Mit jedem neuen Vorgang einen neuen Schlüssel senden")
        case .idempotencyKeyInvalid:
            (
                "Idempotency-Key in falscher Form",
                "Zwischen 1 und 128 sichtbare ASCII-Zeichen benutzen, zum Beispiel eine UUID"
            )
        case .idempotencyKeyReused:
            (
                "Idempotency-Key, der mit einer anderen Anfrage benutzt wurde",
                "Für einen neuen Vorgang einen neuen Schlüssel benutzen"
            )
        case .idempotencyInProgress:
            (
                "Laufende Anfrage mit demselben Idempotency-Key",
                "Den genannten Vorgang abfragen, statt ihn erneut zu verlangen"
            )
        case .authRoleMissing:
            (
                "Fehlende Berechtigung für diese Anfrage",
                "Den Benutzer in die nötige Gruppe aufnehmen: nfc-tap, nfc-tap-loyalty oder nfc-tap-admin"
            )
        case .sessionNotOwner:
            (
                "Vorgang eines anderen Benutzers",
                "Den Benutzer, der den Vorgang begonnen hat, oder einen Verwalter darum bitten"
            )
        case .amountTotalNotPositive: ("Summe, die nicht über null liegt", "Einen Betrag über null eingeben")
        case .amountTooLarge:
            ("Betrag mit zehn oder mehr Ziffern", "Einen Betrag unter 1000000000 kleinsten Einheiten eingeben")
        case .amountItemsMismatch:
            ("Posten, deren Summe nicht der Betrag ist", "Den Betrag zur Summe der Posten machen")
        case .amountCurrencyMismatch:
            ("Posten in anderer Währung als der Betrag", "In einem Vorgang nur eine Währung benutzen")
        case .amountCurrencyUnknown:
            (
                "Unbekannte Währung",
                "Die drei Großbuchstaben einer Währung aus ISO 4217 benutzen, zum Beispiel EUR"
            )
        case .amountDescriptionConflict:
            (
                "Beschreibung, die nicht zu Art oder Betrag passt",
                "Das Genannte berichtigen oder entfernen; was zusammenpasst, sagt die Beschreibung der Schnittstelle"
            )
        case .transactionUnknown: ("Unbekannter Vorgang", "Die Kennung aus der Antwort auf die Anfrage benutzen")
        case .transactionTypeUnsupported:
            (
                "Art von Vorgang, die es hier nicht gibt",
                "Eine der Arten aus der Beschreibung der Schnittstelle benutzen"
            )
        case .helpTopicUnknown: ("Unbekanntes Hilfethema", "Ein Thema benutzen, das GET /v1/help aufzählt")
        case .receiptNotAvailable:
            (
                "Vorgang ohne Beleg bisher",
                "Nach dem Ende des Vorgangs erneut fragen; das Lesen von Kundenkarten hat nie einen"
            )
        case .orderUnresolved:
            (
                "Auftrag mit einer Zahlung, deren Ausgang noch nicht feststeht",
                "Warten, bis die genannte Zahlung genehmigt, abgelehnt oder storniert ist"
            )
        case .laneUnknown: ("Unbekannter Kassenplatz", "Einen Platz benutzen, den GET /v1/lanes aufzählt")
        case .readerBusy:
            ("Leser mit einem anderen Vorgang beschäftigt", "Auf den genannten Vorgang warten oder ihn abbrechen")
        case .readerDetached: ("Leser nicht angeschlossen", "Den Leser anschließen, dann erneut versuchen")
        case .readerInUse:
            ("Leser von einem anderen Programm belegt", "Das andere Programm beenden, das den Leser benutzt")
        case .readerServiceUnavailable:
            (
                "Dienst des Lesers nicht verfügbar",
                "Den Dienst des Lesers starten, für PC/SC: systemctl start pcscd.socket"
            )
        case .readerFaulty: ("Fehler des Lesers", "Den Leser abziehen und wieder anschließen")
        case .readTimedOut:
            ("Keine Karte in der vorgesehenen Zeit", "Neu beginnen und die Karte nach der Aufforderung vorhalten")
        case .readCancelled:
            ("Abbruch vor dem Lesen einer Karte", "Neu beginnen, wenn die Zahlung noch gewünscht ist")
        case .readCardUnreadable:
            (
                "Nicht lesbare Karte",
                "Die Karte allein und ruhig noch einmal vorhalten oder eine andere nehmen"
            )
        case .readCardUnsupported:
            ("Karte ohne hier angenommene Zahlungsanwendung", "Eine andere Karte benutzen")
        case .readCardDeclined:
            ("Ablehnung der Zahlung durch die Karte", "Eine andere Karte oder Zahlungsart benutzen")
        case .readRetriesExhausted:
            ("Auch nach mehreren Versuchen nicht lesbare Karte", "Den Chip der Karte benutzen oder anders zahlen")
        case .readOtherInterface:
            (
                "Karte, die ihren Chip oder Magnetstreifen verlangt",
                "An einem Terminal mit Kartenschlitz zahlen oder eine andere Karte benutzen"
            )
        case .loyaltyNotConfigured:
            (
                "Kein Kundenprogramm eingerichtet",
                "Ein [[loyalty.programme]] in die Konfiguration des Dienstes eintragen"
            )
        case .loyaltyProgrammeUnknown:
            (
                "Unbekanntes Kundenprogramm",
                "Die Kennung eines Programms aus der Konfiguration des Dienstes benutzen"
            )
        case .loyaltyTimedOut:
            (
                "Kein Telefon und keine Kundenkarte in der vorgesehenen Zeit",
                "Neu beginnen und sie nach der Aufforderung vorhalten"
            )
        case .loyaltyUnreadable:
            ("Nicht lesbares Telefon oder nicht lesbare Kundenkarte", "Allein und ruhig noch einmal vorhalten")
        case .envelopeKeyUnusable:
            (
                "Nicht brauchbarer Schlüssel des Zahlungsdienstes",
                "Den aktuellen öffentlichen Schlüssel des Zahlungsdienstes einrichten"
            )
        case .pspUnreachable:
            (
                "Zahlungsadapter nicht erreichbar",
                "Den Zahlungsadapter starten; nichts wurde gesendet und nichts belastet"
            )
        case .pspRefused:
            (
                "Ablehnung der Anfrage durch den Zahlungsadapter",
                "Im Protokoll des Adapters nachsehen; nichts wurde belastet"
            )
        case .pspNoAnswer:
            (
                "Keine brauchbare Antwort des Zahlungsadapters",
                "Anders zahlen; die Zahlung wird storniert, falls sie gebucht wurde"
            )
        case .interrupted: ("Unterbrechung durch das Anhalten des Dienstes", "Den Vorgang neu beginnen")
        case .storageFull: ("Kein Platz für das Journal", "Platz im Zustandsverzeichnis schaffen")
        case .storageFailed:
            ("Nicht beschreibbares Journal", "Im Protokoll des Dienstes und nach der Festplatte sehen")
        case .daemonUnavailable:
            ("Dienst hält an oder ist nicht bereit", "Den Dienst starten: systemctl start nfc-tapd")
        case .internalFault: ("Fehler im Dienst", "Ihn mit dem Protokoll des Dienstes melden")
        }
    }
}
