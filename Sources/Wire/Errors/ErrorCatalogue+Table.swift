extension ErrorCode {
    /// The catalogue: one row a code, complete because the switch is.
    public var entry: ErrorEntry {
        switch self {
        case .requestMalformedJSON:
            row(400, .integrator, "Body that is not valid JSON", "Send one JSON object in UTF-8")
        case .requestUnknownField:
            row(400, .integrator, "Unknown field in the request", "Remove the field or correct its name")
        case .requestMissingField:
            row(400, .integrator, "Missing field in the request", "Add the field that is named")
        case .requestInvalidField:
            row(400, .integrator, "Field with a wrong type or value", "Correct the field as the API description says")
        case .requestFieldNotApplicable:
            row(
                400, .integrator, "Field that does not belong to this type of transaction",
                "Remove the field or change the type")
        case .requestMalformed:
            row(400, .integrator, "Request that is not valid HTTP/1.1", "Send one HTTP/1.1 request at a time")
        case .requestBodyMissing:
            row(400, .integrator, "Missing request body", "Send the JSON object that the API description shows")
        case .requestNotJSON:
            row(415, .integrator, "Content type other than JSON", "Send Content-Type: application/json")
        case .requestHeadTooLarge:
            row(431, .integrator, "Request head above 16 KiB", "Send fewer or shorter header fields")
        case .requestBodyTooLarge:
            row(413, .integrator, "Request body above 64 KiB", "Send a smaller body")
        case .requestTooSlow:
            row(408, .integrator, "Request that took too long to arrive", "Send the whole request at once", retry: true)
        case .requestTooManyConnectionsOfUser:
            row(
                429, .integrator, "Too many connections of this user",
                "Close connections that are not needed, then try again", retry: true)
        case .requestTooManyConnections:
            row(503, .administrator, "Too many connections at a time", "Try again in a moment", retry: true)
        case .requestIncomplete:
            row(400, .integrator, "Request that ended before it was complete", "Send the whole request")
        case .requestPipelined:
            row(
                400, .integrator, "Further request before the answer to the one before it",
                "Wait for each answer, or use another connection")
        case .requestExpectationFailed:
            row(417, .integrator, "Expectation other than 100-continue", "Leave out the Expect header")
        case .requestMethodUnknown:
            row(501, .integrator, "Method that HTTP does not have", "Use GET, POST or DELETE")
        case .requestVersionNotSupported:
            row(505, .integrator, "Protocol version other than HTTP/1.1", "Use HTTP/1.1")
        case .requestTransferEncoding:
            row(411, .integrator, "Transfer-Encoding on a request", "Send the body with Content-Length")
        case .requestNotAcceptable:
            row(406, .integrator, "Form of answer that this call does not have", "Accept a form that the call has")
        case .requestUnknownPath:
            row(404, .integrator, "Unknown path", "Use a path of the API description at /v1/openapi.yaml")
        case .requestMethodNotAllowed:
            row(405, .integrator, "Method that this path does not have", "Use a method that the Allow header names")
        case .requestInvalidParameter:
            row(
                400, .integrator, "Query parameter or header with a wrong value",
                "Correct the parameter as the API description says")
        case .idempotencyKeyMissing:
            row(400, .integrator, "Missing Idempotency-Key", "Send a new key with each new transaction")
        case .idempotencyKeyInvalid:
            row(
                400, .integrator, "Idempotency-Key of a wrong form",
                "Use 1 to 128 visible ASCII characters, for example a UUID")
        case .idempotencyKeyReused:
            row(
                422, .integrator, "Idempotency-Key that was used with another request",
                "Use a new key for a new transaction")
        case .idempotencyInProgress:
            row(
                409, .integrator, "Request with the same Idempotency-Key still running",
                "Get the transaction that is named instead of asking for it again", retry: true)
        case .authRoleMissing:
            row(
                403, .administrator, "Permission missing for this request",
                "Add the user to the group that the request needs: nfc-tap, nfc-tap-loyalty or nfc-tap-admin")
        case .authAdminRequired:
            row(
                403, .administrator, "Administrator needed for this",
                "Do it as root or as a member of the group nfc-tap-admin")
        case .termsNotAccepted:
            row(
                409, .administrator, "Terms of the payment service not accepted",
                "Read them with nfc-tap terms show, then accept them as an administrator: nfc-tap terms accept",
                next: [.otherMethod])
        case .termsAlreadyAccepted:
            row(
                409, .administrator, "Terms that have been accepted already",
                "Go on: an acceptance holds for every lane and reader of the merchant")
        case .termsRevoked:
            row(
                403, .administrator, "Contract that the payment service has ended",
                "Ask the payment service about the merchant's account", next: [.otherMethod])
        case .termsOtherVersion:
            row(
                409, .administrator, "Acceptance of other terms than those in force",
                "Get the terms again, read them, and send their hash")
        case .termsFileInvalid:
            row(
                422, .administrator, "Acceptance file that cannot be used",
                "Get a file from the payment service for this merchant and these terms, signed with the pinned key")
        case .credentialMissing:
            row(
                503, .administrator, "No profile of the payment service",
                "Start the payment adapter and let it serve the merchant's profile at GET /v1/profile", retry: true,
                next: [.otherMethod])
        case .credentialUntrusted:
            row(
                503, .administrator, "Profile without a good signature of the payment service",
                "Compare the key in profile.key with the payment service's; ask it where they agree",
                next: [.otherMethod])
        case .credentialInvalid:
            row(
                503, .support, "Profile with a wrong value",
                "Ask the payment service to correct the field that is named",
                next: [.otherMethod])
        case .credentialOutdated:
            row(
                503, .support, "Profile older than the one in force",
                "Ask the payment service for a profile with a higher serial", next: [.otherMethod])
        case .credentialExpired:
            row(
                503, .administrator, "Profile of the payment service that has expired",
                "Let the payment adapter fetch a new profile; check the clock of this machine", retry: true,
                next: [.otherMethod])
        case .liveNotAcknowledged:
            row(
                503, .administrator, "Live payments not acknowledged in the configuration",
                "Write the sentence of docs/profile.md for this merchant as live.acknowledgement", next: [.otherMethod])
        case .liveTestKey:
            row(
                503, .administrator, "Test key or test profile in live mode",
                "Install the payment service's live keys and profile, or write mode = \"test\"", next: [.otherMethod])
        case .liveVirtualReader:
            row(
                503, .administrator, "Virtual reader in live mode",
                "Use a real reader for this lane, or write mode = \"test\"", next: [.otherMethod])
        case .readerUnsupported:
            row(
                503, .administrator, "Version older than the payment service accepts",
                "Install a newer nfc-tap before anything else: apt-get install --only-upgrade nfc-tap",
                next: [.otherMethod])
        case .sessionNotOwner:
            row(
                403, .cashier, "Transaction of another user",
                "Let the user who started the transaction do this, or an administrator")
        case .amountTotalNotPositive:
            row(422, .cashier, "Total that is not above zero", "Enter an amount above zero")
        case .amountTooLarge:
            row(422, .cashier, "Amount of ten digits or more", "Enter an amount below 1000000000 minor units")
        case .amountItemsMismatch:
            row(422, .integrator, "Items whose sum is not the amount", "Make the amount the sum of its items")
        case .amountCurrencyMismatch:
            row(422, .integrator, "Items in another currency than the amount", "Use one currency in a transaction")
        case .amountCurrencyUnknown:
            row(
                422, .integrator, "Unknown currency",
                "Use the three capital letters of a currency in ISO 4217, for example EUR")
        case .amountDescriptionConflict:
            row(
                422, .integrator, "Description that does not go with the type or the amount",
                "Correct or remove what is named; the API description says what goes with what")
        case .amountCurrencyNotAccepted:
            row(
                422, .integrator, "Currency that the merchant's profile does not have",
                "Use one of the currencies of the profile, or ask the payment service to add this one")
        case .transactionUnknown:
            row(404, .integrator, "Unknown transaction", "Use the id that the answer to the request gave")
        case .helpTopicUnknown: row(404, .integrator, "Unknown help topic", "Use a topic that GET /v1/help lists")
        case .receiptNotAvailable:
            row(
                409, .cashier, "Transaction without a receipt so far",
                "Ask again once it has come to its end; a read of passes never has one", retry: true)
        case .orderUnresolved:
            row(
                409, .cashier, "Order with a payment whose end is not known yet",
                "Wait until the payment that is named is approved, declined or reversed", retry: true,
                next: [.otherMethod])
        case .transactionNotApproved:
            row(
                409, .cashier, "Transaction that is not approved",
                "Look at its state: one without a card is cancelled, a declined one needs nothing")
        case .confirmationNotWanted:
            row(
                409, .integrator, "Transaction that needs no confirmation",
                "Send confirmWithin in the request where an approval is to be confirmed")
        case .confirmationTooLate:
            row(
                409, .cashier, "Confirmation that came too late", "Start again: the payment is taken back",
                next: [.retrySameCard, .otherMethod])
        case .readExpired:
            row(
                422, .customer, "Card read that is older than a minute and was not sent",
                "Present the card again; nothing was charged", retry: true, next: [.retrySameCard, .otherMethod])
        case .queueStored:
            row(
                409, .cashier, "Payment that was stored and is not approved yet",
                "Decline it within a minute, or wait until it has been forwarded")
        case .queueNotStored:
            row(
                409, .cashier, "Transaction that is not stored",
                "Look at its state: one that was forwarded and approved can be reversed")
        case .queueDeclineTooLate:
            row(
                409, .cashier, "Stored payment older than a minute",
                "Wait until it has been forwarded, then reverse or refund it")
        case .queueInBatch:
            row(
                409, .administrator, "Stored payment in an open batch",
                "Resolve or reset the batch first, or refund the payment later")
        case .queueEmpty: row(409, .administrator, "No stored payment for a batch", "Nothing needs to be done")
        case .queueBatchOpen:
            row(
                409, .administrator, "Another batch that is still open",
                "Resolve the open batch with its receipt, or reset it", retry: true)
        case .queueBatchUnknown: row(404, .administrator, "Unknown batch", "Use the id that GET /v1/queue gives")
        case .queueBatchClosed: row(409, .administrator, "Batch that is not open", "Make a new batch of what is left")
        case .queueTokenInvalid:
            row(
                422, .administrator, "Receipt that the payment service has not signed",
                "Use the receipt as the payment service gave it; reset the batch where there is none")
        case .queueTokenExpired:
            row(
                422, .administrator, "Receipt that has expired",
                "Ask the payment service for a new receipt of the batch")
        case .queueTokenMismatch:
            row(
                422, .administrator, "Receipt for another batch or other contents",
                "Use the receipt that the payment service gave for this very batch")
        case .queueRecordAltered:
            row(
                500, .support, "Stored payment whose signature does not fit",
                "Do not forward it; report it together with the journal")
        case .offlineNotAllowed:
            offline(.cashier, "Payment that may not be taken without the payment service", "Use another method")
        case .offlineExpired:
            offline(
                .administrator, "Payment service out of reach for too long to store payments",
                "Restore the link to the payment service")
        case .offlineInvalidated:
            offline(
                .administrator, "Machine restarted since it last reached the payment service",
                "Restore the link to the payment service once")
        case .offlineIssuerChanged:
            offline(
                .administrator, "Stored payments of another payment service",
                "Resolve the payments of the former payment service first")
        case .offlineCardAsksOnline:
            offline(
                .customer, "Card that wants to ask its bank, which cannot be reached",
                "Use another card or another method",
                [.otherCard, .otherInterface, .otherMethod])
        case .offlineCardExpired:
            offline(
                .customer, "Card that is expired, not valid yet or of unknown validity", "Use another card",
                [.otherCard, .otherMethod])
        case .offlineCardTooOften:
            offline(
                .customer, "Card used too often without the payment service", "Use another card",
                [.otherCard, .otherMethod])
        case .offlineSchemeNotAllowed:
            offline(
                .customer, "Card scheme that is not taken without the payment service", "Use a card of another scheme",
                [.otherCard, .otherMethod])
        case .offlineCurrencyNotAllowed:
            offline(.cashier, "Currency that is not taken without the payment service", "Use another method")
        case .offlineAmountExceeded:
            offline(.cashier, "Amount too high without the payment service", "Use another method")
        case .offlineTotalExceeded:
            offline(
                .cashier, "Stored payments whose sum would be too high",
                "Restore the link, and use another method meanwhile")
        case .offlineCountExceeded:
            offline(.cashier, "Too many stored payments", "Restore the link, and use another method meanwhile")
        case .laneUnknown:
            row(404, .integrator, "Unknown lane", "Use a lane that GET /v1/lanes lists")
        case .readerBusy:
            row(
                409, .cashier, "Reader busy with another transaction",
                "Wait for the transaction that is named, or cancel it", retry: true, next: [.otherMethod])
        case .readerDetached:
            row(
                503, .cashier, "Reader not connected", "Connect the reader, then try again", retry: true,
                next: [.otherMethod])
        case .readerInUse:
            row(
                503, .administrator, "Reader held by another program", "Stop the other program that uses the reader",
                retry: true, next: [.otherMethod])
        case .readerServiceUnavailable:
            row(
                503, .administrator, "Reader service not available",
                "Start the service of the reader, for PC/SC: systemctl start pcscd.socket", retry: true,
                next: [.otherMethod])
        case .readerModelUnsupported:
            row(
                503, .administrator, "Reader that cannot read contactless payment cards",
                "Name another reader or its contactless slot for the lane; nfc-tap readers lists them",
                next: [.otherMethod])
        case .readerFaulty:
            row(
                503, .cashier, "Fault of the reader", "Disconnect the reader and connect it again", retry: true,
                next: [.otherMethod])
        case .readTimedOut:
            row(
                408, .customer, "No card within the time allowed", "Start again and present the card when asked",
                retry: true, next: [.retrySameCard, .otherMethod])
        case .readCancelled:
            row(
                409, .cashier, "Cancelled before a card was read", "Start again if the payment is still wanted",
                retry: true)
        case .readCardUnreadable:
            row(
                422, .customer, "Card that could not be read",
                "Present the card again, alone and without moving it, or use another one", retry: true,
                next: [.retrySameCard, .otherCard, .otherMethod])
        case .readRetriesExhausted:
            row(
                422, .cashier, "Card that could not be read after several tries",
                "Use the card's chip, or another way to pay", next: [.otherInterface, .otherMethod, .paymentLink])
        case .readCardUnsupported:
            row(
                422, .customer, "Card without a payment application that is accepted here", "Use another card",
                next: [.otherCard, .otherMethod, .paymentLink])
        case .readOtherInterface:
            row(
                422, .customer, "Card that asks for its chip or stripe to be used",
                "Pay at a terminal that takes the card's chip, or use another card",
                next: [.otherInterface, .otherCard, .otherMethod])
        case .loyaltyNotConfigured:
            row(
                422, .administrator, "No loyalty programme set up here",
                "Add a [[loyalty.programme]] to the configuration of the daemon")
        case .loyaltyProgrammeUnknown:
            row(
                422, .integrator, "Unknown loyalty programme", "Use the id of a programme in the daemon's configuration"
            )
        case .loyaltyTimedOut:
            row(
                408, .customer, "No phone or member card within the time allowed",
                "Start again and present it when asked", retry: true)
        case .loyaltyUnreadable:
            row(
                422, .customer, "Phone or member card that could not be read",
                "Present it again, alone and without moving it", retry: true)
        case .envelopeKeyUnusable:
            row(
                503, .administrator, "Key of the payment service that cannot be used",
                "Install the current public key of the payment service", next: [.otherMethod])
        case .pspUnreachable:
            row(
                503, .administrator, "Payment adapter not reachable",
                "Start the payment adapter; nothing was sent and nothing was charged", retry: true,
                next: [.retrySameCard, .otherMethod])
        case .pspRefused:
            row(
                502, .support, "Request refused by the payment adapter",
                "Look at the adapter's log; nothing was charged", next: [.otherMethod])
        case .pspNoAnswer:
            row(
                504, .administrator, "No usable answer from the payment adapter",
                "Use another way to pay; the payment is reversed should it have been booked", next: [.otherMethod])
        case .interrupted:
            row(
                503, .cashier, "Interrupted by a stop of the daemon", "Start the transaction again", retry: true,
                next: [.retrySameCard, .otherMethod])
        case .storageFull:
            row(
                507, .administrator, "No space for the journal", "Free space in the state directory", retry: true,
                next: [.otherMethod])
        case .storageFailed:
            row(
                500, .support, "Journal that cannot be read or written", "Look at the daemon's log and at the disk",
                next: [.otherMethod])
        case .daemonUnavailable:
            row(
                503, .administrator, "Daemon stopping or not ready", "Start the daemon: systemctl start nfc-tapd",
                retry: true, next: [.otherMethod])
        case .internalFault:
            row(500, .support, "Fault inside the daemon", "Report it together with the daemon's log")
        }
    }

    /// Why a payment could not be stored while the payment service was away.
    private func offline(
        _ who: ResponsibleParty, _ message: String, _ resolution: String, _ next: [NextStep] = [.otherMethod]
    ) -> ErrorEntry { row(503, who, message, resolution, retry: true, next: next) }

    private func row(
        _ status: Int, _ who: ResponsibleParty, _ message: String, _ resolution: String, retry: Bool = false,
        next: [NextStep] = []
    ) -> ErrorEntry {
        ErrorEntry(
            status: status, message: message, resolution: resolution, retryable: retry, who: who, next: next)
    }
}
