// SPDX-License-Identifier: Apache-2.0
public import PSPAPI
public import PaymentValues

/// What the payment service is asked about a link.
public enum LinkQuestion: Equatable, Sendable {
    case open(LinkRequest)
    case look
    /// Nobody is to be able to pay it from the answer on.
    case close
}

/// What came back.
public enum LinkReply: Equatable, Sendable {
    case answered(LinkAnswer)
    /// The service does not know it.
    case neverSeen
    /// It was certainly not opened.
    case refused(ErrorCode)
    /// Silence, garbage, a fault, or still at work.
    case unusable
}

/// A link that was sent to the payment service, and is asked about until the service says how it ended.
public struct LinkWatch: Sendable {
    enum Step: Sendable {
        case asking(until: Int64)
        case pausing(until: Int64)
    }

    /// The customer may pay until then, on the monotonic clock.
    let expires: Int64
    var step: Step
    /// Of the latest question.
    var number = 1
    /// Why it is to end, once it is.
    var ending: DeclineReason?
    /// The latest question was to close it.
    var isClosing = false
    /// Taken back if it turns out to be paid.
    var mustBeReversed = false
    /// Who wants to know what becomes of a cancel.
    var wishes: [RequestID] = []
    /// Questions in a row without a usable answer.
    var unanswered = 0

    var due: Int64 {
        switch step {
        case .asking(let time), .pausing(let time): time
        }
    }
}
