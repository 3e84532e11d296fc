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
        case .authAdminRequired:
            ("Nur für Verwalter", "Als root oder als Mitglied der Gruppe nfc-tap-admin ausführen")
        case .termsNotAccepted:
            (
                "Nicht angenommene Bedingungen des Zahlungsdienstes",
                "Mit nfc-tap terms show lesen und als Verwalter annehmen: nfc-tap terms accept"
            )
        case .termsAlreadyAccepted:
            (
                "Bedingungen, die schon angenommen sind",
                "Weitermachen: die Annahme gilt für jeden Platz und jedes Lesegerät des Händlers"
            )
        case .termsRevoked:
            ("Vom Zahlungsdienst beendeter Vertrag", "Den Zahlungsdienst nach dem Konto des Händlers fragen")
        case .termsOtherVersion:
            (
                "Annahme anderer Bedingungen als der geltenden",
                "Die Bedingungen neu holen, lesen und ihre Prüfsumme senden"
            )
        case .termsFileInvalid:
            (
                "Unbrauchbare Annahmedatei",
                "Vom Zahlungsdienst eine Datei für diesen Händler und diese Bedingungen holen, vom hinterlegten Schlüssel unterschrieben"
            )
        case .credentialMissing:
            (
                "Kein Profil des Zahlungsdienstes",
                "Den Adapter starten, der unter GET /v1/profile das Profil des Händlers liefern muss"
            )
        case .credentialUntrusted:
            (
                "Profil ohne gültige Unterschrift des Zahlungsdienstes",
                "Den Schlüssel in profile.key mit dem des Zahlungsdienstes vergleichen; stimmt er, dort nachfragen"
            )
        case .credentialInvalid:
            ("Profil mit einem falschen Wert", "Den Zahlungsdienst bitten, das genannte Feld zu berichtigen")
        case .credentialOutdated:
            (
                "Profil, das älter als das geltende ist",
                "Den Zahlungsdienst um ein Profil mit höherer laufender Nummer bitten"
            )
        case .credentialExpired:
            (
                "Abgelaufenes Profil des Zahlungsdienstes",
                "Den Adapter ein neues Profil holen lassen; die Uhr dieses Rechners prüfen"
            )
        case .liveNotAcknowledged:
            (
                "In der Konfiguration nicht bestätigter Echtbetrieb",
                "Den Satz aus docs/profile.md für diesen Händler als live.acknowledgement eintragen"
            )
        case .liveTestKey:
            (
                "Testschlüssel oder Testprofil im Echtbetrieb",
                "Die echten Schlüssel und das echte Profil des Zahlungsdienstes einrichten, oder mode = \"test\" schreiben"
            )
        case .liveVirtualReader:
            (
                "Virtuelles Lesegerät im Echtbetrieb",
                "Für diesen Platz ein wirkliches Lesegerät verwenden, oder mode = \"test\" schreiben"
            )
        case .readerUnsupported:
            (
                "Ältere Version, als der Zahlungsdienst annimmt",
                "Zuerst ein neueres nfc-tap einspielen: apt-get install --only-upgrade nfc-tap"
            )
        case .sessionNotOwner:
            (
                "Vorgang eines anderen Benutzers",
                "Den Benutzer, der den Vorgang begonnen hat, oder einen Verwalter darum bitten"
            )
        case .amountCurrencyNotAccepted:
            (
                "Währung, die das Profil des Händlers nicht hat",
                "Eine Währung des Profils verwenden, oder den Zahlungsdienst um diese bitten"
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
        case .transactionNotApproved:
            (
                "Nicht genehmigter Vorgang",
                "Seinen Zustand ansehen: ohne Karte wird er abgebrochen, abgelehnt braucht er nichts"
            )
        case .confirmationNotWanted:
            (
                "Vorgang, der keine Bestätigung braucht",
                "In der Anfrage confirmWithin mitsenden, wo eine Genehmigung bestätigt werden soll"
            )
        case .confirmationTooLate: ("Zu späte Bestätigung", "Neu beginnen: die Zahlung wird zurückgenommen")
        case .offlineNotAllowed: ("Zahlung, die ohne den Zahlungsdienst nicht angenommen werden darf", "Anders zahlen")
        case .offlineExpired:
            (
                "Zahlungsdienst zu lange nicht erreicht, um Zahlungen aufzubewahren",
                "Die Verbindung zum Zahlungsdienst wiederherstellen"
            )
        case .offlineInvalidated:
            (
                "Neustart des Rechners seit der letzten Verbindung zum Zahlungsdienst",
                "Den Zahlungsdienst einmal wieder erreichen"
            )
        case .offlineIssuerChanged:
            (
                "Aufbewahrte Zahlungen eines anderen Zahlungsdienstes",
                "Zuerst die Zahlungen des früheren Zahlungsdienstes abschließen"
            )
        case .offlineCardAsksOnline:
            (
                "Karte, die ihre Bank fragen will, die nicht erreichbar ist",
                "Eine andere Karte oder Zahlungsart benutzen"
            )
        case .offlineCardExpired:
            (
                "Karte, die abgelaufen, noch nicht gültig oder von unbekannter Gültigkeit ist",
                "Eine andere Karte benutzen"
            )
        case .offlineCardTooOften:
            ("Karte, die ohne den Zahlungsdienst zu oft benutzt wurde", "Eine andere Karte benutzen")
        case .offlineSchemeNotAllowed:
            ("Kartenart, die ohne den Zahlungsdienst nicht angenommen wird", "Eine Karte anderer Art benutzen")
        case .offlineCurrencyNotAllowed:
            ("Währung, die ohne den Zahlungsdienst nicht angenommen wird", "Anders zahlen")
        case .offlineAmountExceeded: ("Betrag, der ohne den Zahlungsdienst zu hoch ist", "Anders zahlen")
        case .offlineTotalExceeded:
            ("Aufbewahrte Zahlungen, deren Summe zu hoch würde", "Anders zahlen und die Verbindung wiederherstellen")
        case .offlineCountExceeded:
            ("Zu viele aufbewahrte Zahlungen", "Anders zahlen und die Verbindung wiederherstellen")
        case .queueStored:
            (
                "Aufbewahrte und noch nicht genehmigte Zahlung",
                "Sie binnen einer Minute ablehnen oder warten, bis sie weitergeleitet ist"
            )
        case .queueNotStored:
            (
                "Vorgang, der nicht aufbewahrt ist",
                "Seinen Zustand ansehen: weitergeleitet und genehmigt kann er storniert werden"
            )
        case .queueDeclineTooLate:
            (
                "Aufbewahrte Zahlung, die älter als eine Minute ist",
                "Warten, bis sie weitergeleitet ist, dann stornieren oder erstatten"
            )
        case .queueInBatch:
            (
                "Aufbewahrte Zahlung in einem offenen Stapel",
                "Zuerst den Stapel abschließen oder zurücksetzen, oder später erstatten"
            )
        case .queueEmpty: ("Keine aufbewahrte Zahlung für einen Stapel", "Es ist nichts zu tun")
        case .queueBatchOpen:
            (
                "Ein anderer Stapel, der noch offen ist",
                "Den offenen Stapel mit seiner Quittung abschließen oder zurücksetzen"
            )
        case .queueBatchUnknown: ("Unbekannter Stapel", "Die Kennung benutzen, die GET /v1/queue nennt")
        case .queueBatchClosed: ("Stapel, der nicht offen ist", "Einen neuen Stapel aus dem machen, was übrig ist")
        case .queueTokenInvalid:
            (
                "Quittung, die der Zahlungsdienst nicht unterschrieben hat",
                "Die Quittung unverändert benutzen; den Stapel zurücksetzen, wo es keine gibt"
            )
        case .queueTokenExpired:
            ("Abgelaufene Quittung", "Den Zahlungsdienst um eine neue Quittung für den Stapel bitten")
        case .queueTokenMismatch:
            (
                "Quittung für einen anderen Stapel oder anderen Inhalt",
                "Die Quittung benutzen, die der Zahlungsdienst für diesen Stapel gab"
            )
        case .queueRecordAltered:
            (
                "Aufbewahrte Zahlung, deren Unterschrift nicht passt",
                "Sie nicht weiterleiten; sie mit dem Journal melden"
            )
        case .readExpired:
            (
                "Gelesene Karte, die älter als eine Minute ist und nicht gesendet wurde",
                "Die Karte erneut vorzeigen; nichts wurde belastet"
            )
        case .laneUnknown: ("Unbekannter Kassenplatz", "Einen Platz benutzen, den GET /v1/lanes aufzählt")
        case .readerBusy:
            ("Leser mit einem anderen Vorgang beschäftigt", "Auf den genannten Vorgang warten oder ihn abbrechen")
        case .readerDetached: ("Leser nicht angeschlossen", "Den Leser anschließen, dann erneut versuchen")
        case .readerInUse:
            ("Leser von einem anderen Programm belegt", "Das andere Programm beenden, das den Leser benutzt")
        case .readerModelUnsupported:
            (
                "Leser ohne Eignung für kontaktlose Zahlkarten",
                "Einen anderen Leser oder sein kontaktloses Fach eintragen; nfc-tap readers zählt sie auf"
            )
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
            ("Journal nicht les- oder beschreibbar", "Im Protokoll des Dienstes und nach der Festplatte sehen")
        case .daemonUnavailable:
            ("Dienst hält an oder ist nicht bereit", "Den Dienst starten: systemctl start nfc-tapd")
        case .internalFault: ("Fehler im Dienst", "Ihn mit dem Protokoll des Dienstes melden")
        }
    }
}
