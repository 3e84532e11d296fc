// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

extension OpenLink {
    public func progressText(in language: Language) -> String {
        language.text(.progress(.linkOpened), [.address: url, .date: expiresAt.description])
    }
}

extension Event {
    /// What whoever has started the transaction is told of it; `nil` for what its result says, or nobody has to know.
    ///
    /// - Parameter readsPasses: whether nothing but passes is read.
    public func progressText(in language: Language, readsPasses: Bool = false) -> String? {
        let word: ProgressWord
        switch name {
        case .prepareProgress:
            guard let percent else { return language.text(.progress(.preparing)) }
            return language.text(.progress(.preparingPart), [.percent: "\(percent)"])
        case .readReadyForTap: word = readsPasses ? .holdPass : .presentCard
        case .readCardDetected: word = readsPasses ? .reading : .cardDetected
        case .readRetry where error?.code == ErrorCode.readCardUnsupported.rawValue:
            return ErrorCode.readCardUnsupported.texts(in: language).message
        case .readRetry:
            let asked = customerAction?.text(in: language.rawValue) ?? message?.text(in: language)
            return asked ?? language.text(.progress(.presentAgain))
        case .readRemoveCard: word = .removeCard
        case .readCompleted: word = readsPasses ? .done : .cardRead
        case .pinRequested: word = .pinRequested
        case .pinCompleted:
            switch pin?.state {
            case .entered: word = .pinEntered
            case .cancelled: word = .pinCancelled
            case .timedOut: word = .pinTimedOut
            case .failed: word = .pinFailed
            case nil: return nil
            }
        case .linkOpened:
            // Who sees no results sees no address either.
            guard let link else { return nil }
            return link.progressText(in: language)
        case .paymentAuthorizing: word = .authorising
        case .paymentUnknown: word = .unclear
        case .readerAttached, .readerDetached, .readerNotReady, .readNotCompleted, .readCancelled, .paymentApproved,
            .paymentDeclined, .paymentStored, .paymentReversed, .loyaltyResult, .queueForwarded, .queueFailed,
            .openItemContradicted, .termsChanged, .profileApplied, .profileRefused, .clockUnbelievable, .clockBelieved,
            .eventsMissed, .operationDone, .operationRefused, .operationUnknown, .paymentRefunded, .paymentExpiring,
            .paymentExpired, .cardStored, .cardDeleted, .dayClosed, .dayDiffers, .booksAttention,
            .tapOffered, .tapRefused, .sessionClaimed, .sessionCommitted, .sessionReleased, .sessionExpiring:
            return nil
        }
        return language.text(.progress(word))
    }
}
