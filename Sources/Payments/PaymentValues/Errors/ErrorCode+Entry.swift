// SPDX-License-Identifier: Apache-2.0
extension ErrorCode {
    /// What programs go by: complete because the switch is. Codes with the same row stand together.
    public var entry: ErrorEntry {
        switch self {
        case .requestMalformedJSON, .requestUnknownField, .requestMissingField, .requestInvalidField,
            .requestFieldNotApplicable, .requestFieldConflict, .requestDuplicateField, .requestMalformed,
            .requestInvalidTarget, .requestBodyMissing, .requestIncomplete, .requestPipelined,
            .requestInvalidParameter, .idempotencyKeyMissing, .idempotencyKeyInvalid:
            row(400, .integrator)
        case .requestNotJSON:
            row(415, .integrator)
        case .requestHeadTooLarge:
            row(431, .integrator)
        case .requestBodyTooLarge:
            row(413, .integrator)
        case .requestTooSlow:
            row(408, .integrator, retry: true)
        case .requestTooManyConnectionsOfUser, .requestTooManyStreams, .requestTooOften,
            .rateExceeded:
            row(429, .integrator, retry: true)
        case .requestTooManyConnections:
            row(503, .administrator, retry: true)
        case .requestExpectationFailed:
            row(417, .integrator)
        case .requestMethodUnknown:
            row(501, .integrator)
        case .requestVersionNotSupported:
            row(505, .integrator)
        case .requestTransferEncoding:
            row(411, .integrator)
        case .requestNotAcceptable:
            row(406, .integrator)
        case .requestUnknownPath, .transactionUnknown, .idempotencyKeyUnknown, .helpTopicUnknown, .laneUnknown:
            row(404, .integrator)
        case .transactionErased:
            row(410, .integrator)
        // No other way to pay follows from it: what became of its money is not known.
        case .transactionDamaged:
            row(500, .administrator)
        case .laneNoTransaction, .dayUnknown:
            row(404, .cashier)
        case .dayBlocked:
            row(409, .cashier, retry: true)
        case .requestMethodNotAllowed:
            row(405, .integrator)
        case .idempotencyKeyReused, .amountItemsMismatch, .amountCurrencyMismatch, .amountCurrencyUnknown,
            .amountDescriptionConflict, .amountCurrencyNotAccepted, .loyaltyProgrammeUnknown:
            row(422, .integrator)
        case .idempotencyInProgress:
            row(409, .integrator, retry: true)
        case .requestTooLate:
            row(409, .cashier, next: [.retrySameCard, .otherMethod])
        case .requestCancelled:
            row(409, .integrator)
        case .remoteUnseen:
            row(409, .administrator)
        case .authRoleMissing, .authAdminRequired, .authDelegationRefused, .laneNotYours, .originRefused,
            .remoteAmountExceeded, .remoteCurrencyNotAllowed, .remoteDayExceeded:
            row(403, .administrator)
        case .tokenUnknown:
            row(401, .administrator)
        case .tokenNotDue:
            row(409, .integrator)
        case .pairingUnknown:
            row(404, .administrator)
        case .pairingUsed:
            row(410, .administrator)
        case .hostRefused:
            row(421, .administrator)
        case .termsNotAccepted:
            row(409, .administrator, next: [.otherMethod])
        case .termsAlreadyAccepted, .termsOtherVersion, .queueInBatch, .queueEmpty, .queueBatchClosed, .openItemNotOpen,
            .openItemEnded, .openItemAlreadySettled:
            row(409, .administrator)
        case .termsRevoked:
            row(403, .administrator, next: [.otherMethod])
        case .openItemAmountImpossible, .termsFileInvalid, .queueTokenInvalid, .queueTokenExpired, .queueTokenMismatch,
            .loyaltyNotConfigured:
            row(422, .administrator)
        case .credentialMissing, .credentialExpired, .offlineNotContacted, .offlineExpired, .offlineInvalidated,
            .offlineServiceChanged,
            .readerInUse, .readerServiceUnavailable, .readerServiceMismatch, .readerAccessDenied, .readerWorkerMissing,
            .daemonUnavailable, .clockUnbelievable:
            row(503, .administrator, retry: true, next: [.otherMethod])
        case .credentialUntrusted, .liveNotAcknowledged, .liveTestKey, .liveVirtualReader, .readerUnsupported,
            .readerModelUnsupported, .readerFirmwareTooOld, .envelopeKeyUnusable:
            row(503, .administrator, next: [.otherMethod])
        case .credentialInvalid, .credentialOutdated:
            row(503, .support, next: [.otherMethod])
        case .sessionNotOwner:
            row(403, .cashier)
        case .reversalTooLate:
            row(403, .administrator)
        case .amountTotalNotPositive, .amountTooLarge:
            row(422, .cashier)
        case .receiptNotAvailable, .readCancelled:
            row(409, .cashier, retry: true)
        case .orderUnresolved, .readerBusy:
            row(409, .cashier, retry: true, next: [.otherMethod])
        case .orderPaid, .receiptNoAddress, .transactionNotApproved, .queueStored, .queueNotStored,
            .queueDeclineTooLate:
            row(409, .cashier)
        case .confirmationNotWanted:
            row(409, .integrator)
        case .confirmationTooLate:
            row(409, .cashier, next: [.retrySameCard, .otherMethod])
        case .readExpired:
            row(422, .customer, retry: true, next: [.retrySameCard, .otherMethod])
        case .queueBatchOpen:
            row(409, .administrator, retry: true)
        case .queueBatchUnknown:
            row(404, .administrator)
        case .openItemOtherService, .openItemNeverSeen, .openItemRefusedAfterDoubt, .openItemContradicted:
            row(502, .administrator)
        case .openItemUnacknowledged, .openItemUnanswered, .openItemKeyLifeOver:
            row(504, .administrator)
        case .queueRecordAltered, .internalFault:
            row(500, .support)
        case .offlineNotAllowed, .offlineCurrencyNotAllowed, .offlineAmountExceeded, .offlineTotalExceeded,
            .offlineCountExceeded, .readerFaulty:
            row(503, .cashier, retry: true, next: [.otherMethod])
        case .readerDetached:
            row(503, .cashier, retry: true, next: [.retrySameCard, .otherMethod])
        case .offlineCardAsksOnline:
            row(503, .customer, retry: true, next: [.otherCard, .otherInterface, .otherMethod])
        case .offlineCardExpired, .offlineCardTooOften, .offlineSchemeNotAllowed:
            row(503, .customer, retry: true, next: [.otherCard, .otherMethod])
        case .readTimedOut:
            row(408, .customer, retry: true, next: [.retrySameCard, .otherMethod])
        case .readCardUnreadable:
            row(422, .customer, retry: true, next: [.retrySameCard, .otherCard, .otherMethod])
        case .readRetriesExhausted:
            row(422, .cashier, next: [.otherInterface, .otherMethod, .paymentLink])
        case .readCardUnsupported:
            row(422, .customer, next: [.otherCard, .otherMethod, .paymentLink])
        case .readOtherInterface:
            row(422, .customer, next: [.otherInterface, .otherCard, .otherMethod])
        case .loyaltyTimedOut:
            row(408, .customer, retry: true)
        case .loyaltyUnreadable:
            row(422, .customer, retry: true)
        case .pinTimedOut:
            row(408, .customer, retry: true, next: [.retrySameCard, .otherCard, .otherMethod])
        case .pinDeviceFailed:
            row(503, .administrator, retry: true, next: [.retrySameCard, .otherInterface, .otherMethod])
        case .pspUnreachable:
            row(503, .administrator, retry: true, next: [.retrySameCard, .otherMethod])
        case .pspRefused:
            row(502, .support, next: [.otherMethod])
        case .pspNoAnswer:
            row(504, .administrator, next: [.otherMethod])
        case .interrupted:
            row(503, .cashier, retry: true, next: [.retrySameCard, .otherMethod])
        case .storageFull:
            row(507, .administrator, retry: true, next: [.otherMethod])
        case .storageFailed:
            row(500, .support, next: [.otherMethod])
        case .captureNotSupported, .adjustmentNotSupported, .releaseNotSupported, .refundNotSupported,
            .refundNotAllowed, .cardCommandsNotAllowed, .chargeNotSupported, .linkNotSupported,
            .receiptSendingNotSupported, .resolutionNotOpen:
            row(409, .administrator)
        case .storedCardUnknown:
            row(404, .integrator)
        case .storedCardDeleted, .agreementMissing, .agreementEnded, .agreementStopped:
            row(409, .integrator)
        case .storedCardNotGiven:
            row(409, .cashier, next: [.otherCard])
        case .agreementExceeded:
            row(422, .integrator)
        case .captureTooMuch, .releaseTooMuch, .refundTooMuch:
            row(422, .cashier)
        case .captureExpired, .captureNothingLeft, .captureAutomatic, .captureElsewhere, .adjustmentTooMany,
            .adjustmentAfterCapture, .refundNotCaptured, .refundAlreadyReversed, .refundFinal, .refundCardNeeded,
            .refundOtherCard, .reversalRefunded, .reversalCapturedInPart, .operationWithdrawn,
            .retryNotPossible, .handoverNotAvailable:
            row(409, .cashier)
        case .refundOriginalUnknown, .operationUnknown:
            row(404, .cashier)
        case .operationPending:
            row(409, .cashier, retry: true)
        case .operationStuck:
            row(504, .support)
        case .confirmationPending, .sessionNotClaimed, .sessionClaimed:
            row(409, .integrator)
        case .standingNotConfigured:
            row(404, .administrator)
        case .sessionOver:
            row(410, .integrator)
        }
    }

    private func row(
        _ status: Int, _ who: ResponsibleParty, retry: Bool = false, next: [NextStep] = []
    ) -> ErrorEntry { ErrorEntry(status: status, retryable: retry, who: who, next: next) }
}
