// SPDX-License-Identifier: Apache-2.0
import Journal
import PaymentValues
import Profile

// What each part of the daemon refuses, in the words of the catalogue, with the member that it is about.

extension ErrorDetail {
    init(of error: ProfileError) { self.init(ErrorCode(error), field: error.field) }

    init(of obstacle: LiveObstacle) {
        let (code, field): (ErrorCode, String?) =
            switch obstacle {
            case .noProfile: (.credentialMissing, nil)
            case .profile(let error): (ErrorCode(error), error.field)
            case .versionTooOld: (.readerUnsupported, "software.minimum")
            case .termsRevoked: (.termsRevoked, nil)
            case .termsNotAccepted: (.termsNotAccepted, nil)
            case .clockUnbelievable: (.clockUnbelievable, nil)
            case .profileExpired: (.credentialExpired, nil)
            case .notAcknowledged: (.liveNotAcknowledged, "live.acknowledgement")
            case .test(let material): (.liveTestKey, material.rawValue)
            case .recipientKey: (.envelopeKeyUnusable, nil)
            }
        self.init(code, field: field)
    }
}

extension ErrorBody {
    init(of refusal: TermsRefusal) {
        let (code, field): (ErrorCode, String?) =
            switch refusal {
            case .noSignedTerms: (.credentialMissing, nil)
            case .versionTooOld: (.readerUnsupported, "software.minimum")
            case .revoked: (.termsRevoked, nil)
            case .otherTerms: (.termsOtherVersion, "hash")
            case .alreadyAccepted: (.termsAlreadyAccepted, nil)
            case .fileTooLong: (.termsFileInvalid, "file")
            case .file(let error): (.termsFileInvalid, error.field.map { "file.\($0)" } ?? "file")
            case .journal(let error): (ErrorCode(error), nil)
            }
        self.init(code, field: field)
    }

    init(_ refusal: ChargeRefusal) {
        self.init(refusal.code, field: refusal.field, transaction: refusal.transaction)
        error.limit = refusal.limit
    }

    init(of refusal: QueueRefusal, about transaction: TransactionID? = nil) {
        let code: ErrorCode =
            switch refusal {
            case .empty: .queueEmpty
            case .batchOpen: .queueBatchOpen
            case .batchClosed: .queueBatchClosed
            case .batchUnknown: .queueBatchUnknown
            case .notSigned: .internalFault
            case .noReceiptKey: .queueTokenInvalid
            case .receipt(let code): code
            case .notStored: .queueNotStored
            case .inBatch: .queueInBatch
            case .tooLate: .queueDeclineTooLate
            case .journal(let error): ErrorCode(error)
            }
        self.init(code, transaction: transaction)
    }
}

extension PointOfSaleAPI {
    func telling<Answer>(
        about transaction: TransactionID? = nil, _ body: () async throws(QueueRefusal) -> Answer
    ) async throws(ErrorBody) -> Answer {
        do throws(QueueRefusal) { return try await body() } catch { throw ErrorBody(of: error, about: transaction) }
    }
}

extension ErrorBody {
    /// - Parameter left: what a backend may still ask for.
    init(overDayLimit left: Money) {
        self.init(.remoteDayExceeded, field: "amount")
        error.limit = left
    }
}

extension ErrorCode {
    /// Why a key has no transaction and gets none.
    init(_ reason: KeyBar) {
        self =
            switch reason {
            case .cancelled: .requestCancelled
            case .late: .requestTooLate
            }
    }
}

extension ErrorDetail {
    /// Why the machine's clock is not believed, which is the log's to say.
    init(of doubt: ClockTrust.Doubt) { self.init(ErrorCode.clockUnbelievable) }
}
