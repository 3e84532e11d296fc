// SPDX-License-Identifier: Apache-2.0
import EMV
import Envelope
import Journal
import LocalHTTP
import PaymentValues
import Profile
import ReaderCore
import TapSession

extension ErrorCode {
    init(_ error: PaymentTapError) {
        switch error {
        case .reader(let error): self = ErrorCode(error)
        case .recipient, .sealing: self = .envelopeKeyUnusable
        case .incompleteRecord, .missingHostData: self = .readCardUnreadable
        }
    }

    init(_ error: ReaderError) {
        switch error {
        case .cardLost: self = .readCardUnreadable
        case .timedOut: self = .readTimedOut
        case .cancelled: self = .readCancelled
        case .detached: self = .readerDetached
        case .inUse: self = .readerInUse
        case .serviceUnavailable(.unknownReader): self = .readerDetached
        case .serviceUnavailable(.unsuitableReader): self = .readerModelUnsupported
        case .serviceUnavailable(.pcscdNotRunning): self = .readerServiceUnavailable
        case .serviceUnavailable(.otherVersion): self = .readerServiceMismatch
        case .serviceUnavailable(.accessDenied): self = .readerAccessDenied
        case .serviceUnavailable(.workerMissing): self = .readerWorkerMissing
        case .faulty: self = .readerFaulty
        }
    }

    /// Why a reader could not be opened: no card is part of that, and nobody cancels it.
    init(opening error: ReaderError) {
        switch error {
        case .cardLost, .timedOut, .cancelled: self = .readerFaulty
        case .detached, .inUse, .serviceUnavailable, .faulty: self = ErrorCode(error)
        }
    }

    /// Why a kernel gave up without a result.
    init(_ indication: ErrorIndication) {
        switch indication.l2 {
        case .emptyCandidateList, .noPPSE, .magStripeNotSupported: self = .readCardUnsupported
        case .ok, .cardDataMissing, .camFailed, .statusBytes, .parsingError, .maxLimitExceeded, .cardDataError,
            .ppseFault, .idsReadError, .idsWriteError, .idsDataError, .idsNoMatchingAC, .terminalDataError,
            .decryptionFailed, .iadMACFailed, .edaMACFailed:
            self = .readCardUnreadable
        }
    }
}

extension ErrorCode {
    init(_ error: JournalError) {
        switch error {
        case .full: self = .storageFull
        // What became of its money is not known: nobody may be sent to another way to pay.
        case .damagedPayment: self = .transactionDamaged
        case .cannotOpen, .inUse, .newerSchema, .damaged, .unknownTransaction, .illegalChange, .unknownOperation,
            .illegalMove, .failed:
            self = .storageFailed
        }
    }
}

extension ErrorCode {
    /// Why a profile is not used.
    init(_ error: ProfileError) {
        switch error {
        // Whoever signed it, what its header says is wrong: the key has nothing to do with that.
        case .untrusted(.wrongType(_)), .untrusted(.malformedHeader(_)), .untrusted(.unsupportedHeader(_)),
            .untrusted(.unsupportedAlgorithm(_)):
            self = .credentialInvalid
        case .untrusted(.malformedToken), .untrusted(.wrongKey), .untrusted(.notAuthentic): self = .credentialUntrusted
        case .expired, .notYetValid: self = .credentialExpired
        case .older, .sameSerial: self = .credentialOutdated
        case .member, .text, .address, .time, .version, .currency, .network, .empty, .repeated, .networkNotAccepted,
            .networkWithoutApplication, .recipientKey, .verificationKey, .period, .otherTerms:
            self = .credentialInvalid
        }
    }

    init(_ trouble: ProfileTrouble) {
        switch trouble {
        case .none: self = .credentialMissing
        case .noAnswer: self = .pspNoAnswer
        case .adapterUnreachable: self = .pspUnreachable
        case .refused(let error): self = ErrorCode(error)
        case .notWritten(let error): self = ErrorCode(error)
        }
    }

    /// What the server refuses by itself.
    init(_ refusal: HTTPRefusal) {
        switch refusal {
        case .malformed: self = .requestMalformed
        case .invalidTarget: self = .requestInvalidTarget
        case .versionNotSupported: self = .requestVersionNotSupported
        case .methodNotImplemented: self = .requestMethodUnknown
        case .incomplete: self = .requestIncomplete
        case .pipelined: self = .requestPipelined
        case .transferEncodingRefused: self = .requestTransferEncoding
        case .expectationFailed: self = .requestExpectationFailed
        case .headTooLarge: self = .requestHeadTooLarge
        case .headTimedOut, .bodyTimedOut: self = .requestTooSlow
        case .bodyTooLarge: self = .requestBodyTooLarge
        case .tooManyConnectionsOfUser: self = .requestTooManyConnectionsOfUser
        case .tooManyConnections: self = .requestTooManyConnections
        case .tooManyStreams: self = .requestTooManyStreams
        case .notAllowed: self = .authRoleMissing
        case .shuttingDown: self = .daemonUnavailable
        }
    }
}
