// SPDX-License-Identifier: Apache-2.0
import EMV
import Journal
import ReaderCore
import TapSession
import Wire

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
        case .serviceUnavailable(.pcscdNotRunning), .serviceUnavailable(.accessDenied),
            .serviceUnavailable(.workerMissing):
            self = .readerServiceUnavailable
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
    init(_ error: JournalError) { self = error == .full ? .storageFull : .storageFailed }
}
