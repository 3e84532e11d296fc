// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import PSPAPI
import PaymentValues

@testable import Transactions

/// Everything that can happen to a transaction, as far as it makes a difference.
enum Move: UInt8, CaseIterable, Sendable {
    case begin, recover, preparing, prepared, preparedTwo, preparedNone, notPrepared
    case ready, readyWest, won, cardLeft, collision, unreadableCard, cardAwaited, cardLost, ticket, seePhone,
        otherMessage, cardDetected
    case passAgain, passesSame, passesReset, passesRemoval, endedWithPasses
    case read, declinedOffline, timedOut, unreadable, withdrawn, detached, noApplication, cardMayGo, tapFinished
    case readForIssuer, declinedForPIN, lastPINEntered
    case readForPIN, pinEntered, pinOfAnother, pinCancelled, pinTimedOut, pinFailed
    case claimed
    case connected, notConnected
    case approved, partial, declined, running, neverSeen, refused, notDelivered, unusable, lateApproved
    case acknowledged, reversalNeverSeen, notAcknowledged, lateAcknowledged, notAsked, hasten
    case cancel, stop, reverse, confirmed, confirmedUnheard, forward, forwardForgotten, declinedInQueue
    case settleCharged, settleNotCharged
    case written, full, failed
    case due
    // Only in random stories.
    case earlyDue, pass, passLong, wallBack, wallAhead, die, cut

    /// What an ordinary order of things is made of.
    static let forOrders = allCases.filter { $0.rawValue < Move.earlyDue.rawValue }

    static let ofPasses: Set<Move> = [.passAgain, .passesSame, .passesReset, .passesRemoval, .endedWithPasses]

    static let beforeRead: Set<Move> = [
        .preparedNone, .notPrepared, .readyWest, .cardLeft, .collision, .unreadableCard, .cardAwaited, .cardLost,
        .ticket, .seePhone,
        .otherMessage,
        .declinedOffline, .timedOut, .unreadable, .withdrawn, .detached, .noApplication, .readForPIN,
    ]

    static let ofPIN: Set<Move> = [
        .readForIssuer, .declinedForPIN, .lastPINEntered, .readForPIN, .pinEntered, .pinOfAnother, .pinCancelled,
        .pinTimedOut, .pinFailed,
    ]

    var isOfJournal: Bool { [.written, .full, .failed].contains(self) }

    /// What came back to the latest question, or to the one before it.
    var reply: Reply? {
        switch self {
        case .approved, .lateApproved: .answered(Sample.answer(.approved))
        case .partial: .answered(Sample.answer(.partial))
        case .declined: .answered(Sample.answer(.declined))
        case .declinedForPIN: .answered(Sample.wantsPIN)
        case .running: .running
        case .neverSeen: .neverSeen
        case .refused: .refused
        case .notDelivered: .notDelivered
        case .unusable: .unusable
        default: nil
        }
    }

    var acknowledgement: Acknowledgement? {
        switch self {
        case .acknowledged, .lateAcknowledged: .acknowledged
        case .reversalNeverSeen: .neverSeen
        case .notAcknowledged: Acknowledgement.none
        case .notAsked: .notAsked
        default: nil
        }
    }

    /// What comes from lanes and preparation, whatever the transaction.
    var fromLanes: Input? {
        switch self {
        case .begin: .begin
        case .preparing: .preparing
        case .prepared: .prepared(["east"])
        case .preparedTwo: .prepared(Sample.lanes)
        case .preparedNone: .prepared([])
        case .notPrepared: .notPrepared(.readerFaulty)
        case .ready: .ready(lane: "east")
        case .readyWest: .ready(lane: "west")
        case .won: .won(lane: "west")
        case .cardLeft: .cardLeft(lane: "east")
        case .collision: .collision(lane: "east")
        case .unreadableCard: .unreadable(lane: "east")
        case .cardAwaited: .cardAwaited
        case .cardLost: .presentationFailed
        case .ticket: .targetUnsupported(lane: "east")
        case .seePhone: .message(.seePhone)
        case .otherMessage: .message(.processing)
        case .cardDetected: .cardDetected
        case .passAgain: .passAgain(.unlockPhone)
        case .passesSame: .passes(Sample.passes(), hasPass: true, then: .sameActivation)
        case .passesReset: .passes(Sample.passes(), hasPass: false, then: .afterFieldReset)
        case .passesRemoval: .passes(Sample.passes(.presentAgain), hasPass: true, then: .afterRemoval)
        case .endedWithPasses: .endedWithPasses
        case .declinedOffline: .declinedOffline(Sample.card, nil, .cardDeclined)
        case .timedOut: .ended(.readTimedOut, withoutApplication: false)
        case .unreadable: .ended(.readCardUnreadable, withoutApplication: false)
        case .withdrawn: .ended(.readCancelled, withoutApplication: false)
        case .detached: .ended(.readerDetached, withoutApplication: false)
        case .noApplication: .ended(.readCardUnsupported, withoutApplication: true)
        case .cardMayGo: .cardMayGo
        case .tapFinished: .tapFinished
        case .pinEntered: .pin(.entered(Sample.pin), Sample.pin.attempt)
        case .lastPINEntered: .pin(.entered(Sample.lastPIN), Sample.otherPIN)
        case .pinOfAnother: .pin(.entered(Sample.pin), Sample.otherPIN)
        case .pinCancelled: .pin(.cancelled, Sample.pin.attempt)
        case .pinTimedOut: .pin(.timedOut, Sample.pin.attempt)
        case .pinFailed: .pin(.failed, Sample.pin.attempt)
        case .connected: .connected
        case .notConnected: .notConnected
        default: nil
        }
    }
}
