// SPDX-License-Identifier: Apache-2.0
import Journal
import Profile
import Wire

// What each part of the daemon refuses, in the words of the catalogue, with the member that it is about.

extension ErrorDetail {
    init(_ error: ProfileError) { self.init(ErrorCode(error), field: error.field) }

    init(_ obstacle: LiveObstacle) {
        switch obstacle {
        case .noProfile: self.init(.credentialMissing)
        case .profile(let error): self.init(error)
        case .versionTooOld: self.init(.readerUnsupported, field: "software.minimum")
        case .termsRevoked: self.init(.termsRevoked)
        case .termsNotAccepted: self.init(.termsNotAccepted)
        case .profileExpired: self.init(.credentialExpired)
        case .notAcknowledged: self.init(.liveNotAcknowledged, field: "live.acknowledgement")
        case .test(let material): self.init(.liveTestKey, field: material.rawValue)
        case .recipientKey: self.init(.envelopeKeyUnusable)
        }
    }
}

extension ErrorBody {
    init(_ refusal: TermsRefusal) {
        switch refusal {
        case .noSignedTerms: self.init(.credentialMissing)
        case .versionTooOld: self.init(.readerUnsupported, field: "software.minimum")
        case .revoked: self.init(.termsRevoked)
        case .otherTerms: self.init(.termsOtherVersion, field: "hash")
        case .alreadyAccepted: self.init(.termsAlreadyAccepted)
        case .fileTooLong: self.init(.termsFileInvalid, field: "file")
        case .file(let error): self.init(.termsFileInvalid, field: error.field.map { "file.\($0)" } ?? "file")
        case .journal(let error): self.init(ErrorCode(error))
        }
    }

    init(_ refusal: QueueRefusal, about transaction: TransactionID? = nil) {
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
        do throws(QueueRefusal) { return try await body() } catch { throw ErrorBody(error, about: transaction) }
    }
}
