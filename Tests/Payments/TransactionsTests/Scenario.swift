// SPDX-License-Identifier: Apache-2.0
import Foundation
import PSPAPI
import PaymentValues

@testable import Transactions

/// A kind of transaction, with stories that lead through all of its states.
enum Scenario: String, CaseIterable, Sendable {
    case payment, kept, pin, issuerPIN, refund, loyalty, combined, confirmed, stored, owedSent, interrupted, unconfirmed

    static let all = allCases

    /// Moves after which no deeper level is begun: more with NFC_TAP_ORDERS.
    static var limit: Int {
        ProcessInfo.processInfo.environment["NFC_TAP_ORDERS"].flatMap(Int.init) ?? 25_000
    }

    static var isTold: Bool { ProcessInfo.processInfo.environment["NFC_TAP_ORDERS"] != nil }

    /// - Parameter depth: of moves from every stage of the stories; `nil` for as deep as the limit allows.
    func orders(depth: Int = .max) -> Orders {
        Orders(from: start, along: stories, with: moves, limit: Scenario.limit, depth: depth)
    }

    var demand: TransactionParameters {
        var demand = TransactionParameters(kind: self == .refund ? .refund : .sale, owner: Principal(uid: 1_000))
        demand.maximumReads = self == .loyalty ? .max : 2
        demand.wantsPasses = self == .loyalty || self == .combined
        if self == .kept { demand.kept = KeptTap(tap: 7, time: .seconds(30)) }
        if self == .confirmed || self == .unconfirmed { demand.confirmWithin = 120 }
        return demand
    }

    var start: Stage {
        let demand = demand
        switch self {
        case .payment, .kept, .pin, .issuerPIN, .combined, .confirmed:
            return Stage(Sample.transaction(.purchase), demand)
        case .refund: return Stage(Sample.transaction(.refund), demand)
        case .loyalty: return Stage(Sample.transaction(.loyalty), demand)
        case .stored: return recorded([.armed, .reading, .sealed, .stored], isQueued: true)
        case .owedSent: return recorded([.armed, .reading, .sealed, .stored, .sent], isQueued: true)
        case .interrupted: return recorded([.armed, .reading, .sealed, .sent, .unknown])
        case .unconfirmed: return recorded([.armed, .reading, .sealed, .sent, .approved])
        }
    }

    private func recorded(_ states: [TransactionState], isQueued: Bool = false) -> Stage {
        let due = self == .unconfirmed ? Sample.start.wall.advanced(bySeconds: 90) : nil
        let books = Books.recorded(Sample.transaction(.purchase), states, isQueued: isQueued, confirmBy: due)
        return Stage(recorded: books, demand)
    }

    /// What passes, or PINs, and nothing else brings about is left out where none are wanted.
    var moves: [Move] {
        Move.forOrders.filter {
            // What comes before a read is gone through by `pin`.
            (![.issuerPIN, .kept].contains(self) || !Move.beforeRead.contains($0))
                && (demand.wantsPasses || !Move.ofPasses.contains($0))
                && (asksForPIN || !Move.ofPIN.contains($0)) && (self == .kept || $0 != .claimed)
        }
    }

    private var asksForPIN: Bool { self == .pin || self == .issuerPIN }

    private var stories: [[Move]] {
        let armed: [Move] = [.begin, .preparing, .written, .preparedTwo, .written, .ready, .won]
        let sent: [Move] = armed + [.cardDetected, .written, .read, .connected, .written]
        let asked: [Move] = sent + [.due, .tapFinished, .unusable, .written, .due]
        let asking: [Move] = armed + [.cardDetected, .written, .readForPIN, .written]
        let entered: [Move] = asking + [.tapFinished, .pinEntered, .connected, .written]
        let wanted: [Move] =
            armed + [
                .cardDetected, .written, .readForIssuer, .connected, .written, .tapFinished, .declinedForPIN, .written,
            ]
        let continued: [Move] = wanted + [.pinEntered, .written]
        switch self {
        case .issuerPIN:
            return [
                continued + [.declinedForPIN, .written, .lastPINEntered, .written, .approved, .written],
                continued + [.unusable, .written, .due, .neverSeen, .declined, .written],
                continued + [.cancel, .approved, .written], wanted + [.pinEntered, .failed, .written],
                wanted + [.due, .written],
            ]
        case .pin:
            return [
                entered + [.approved, .written],
                entered + [.unusable, .written, .due, .neverSeen, .approved, .written],
                entered + [.cancel, .approved, .written, .acknowledged, .written],
                entered + [.notDelivered, .written],
                asking + [.pinEntered, .connected, .written, .tapFinished, .declined, .written],
                asking + [.pinEntered, .notConnected, .written],
                asking + [.cancel, .written], asking + [.stop, .written], asking + [.due, .written],
                asking + [.pinCancelled, .failed, .due, .written], asking + [.pinTimedOut, .written],
                asking + [.pinFailed, .written],
                armed + [.cardDetected, .written, .cancel, .readForPIN, .written],
            ]
        case .kept:
            let offered: [Move] = armed + [.cardDetected, .written, .read, .written]
            let claimed: [Move] = offered + [.tapFinished, .claimed, .connected, .written]
            return [
                claimed + [.approved, .written], claimed + [.declined, .written],
                claimed + [.unusable, .written, .due, .neverSeen, .approved, .written],
                claimed + [.cancel, .approved, .written, .acknowledged, .written],
                offered + [.claimed, .connected, .written, .tapFinished, .approved, .written],
                offered + [.claimed, .notConnected, .written], offered + [.claimed, .claimed, .connected, .written],
                offered + [.cancel, .written], offered + [.cancel, .failed, .due, .written],
                offered + [.stop, .written], offered + [.due, .written, .claimed],
                armed + [.cardDetected, .written, .cancel, .read, .written],
            ]
        case .payment, .refund:
            return [
                asked + [.neverSeen, .running, .due, .approved, .written],
                asked + [.refused, .written],
                sent + [.tapFinished, .notDelivered, .written],
                sent + [.tapFinished, .notDelivered, .failed, .written],
                sent + [.approved, .due, .due, .written],
                sent + [.cancel, .tapFinished, .approved, .written, .reversalNeverSeen, .written, .due],
                asked + [.reverse, .approved, .written, .notAcknowledged, .written, .due, .acknowledged, .written],
                armed + [.cardDetected, .written, .cardAwaited, .cardLost, .written, .cancel, .withdrawn, .written],
                armed + [.cardDetected, .written, .read, .notConnected, .written, .tapFinished],
                armed + [.cardDetected, .written, .declinedOffline, .written, .cardMayGo, .tapFinished],
            ]
        case .loyalty:
            return [
                armed + [
                    .cardDetected, .written, .passAgain, .written, .cardDetected, .written, .endedWithPasses, .written,
                ],
                armed + [.cardDetected, .written, .cancel, .withdrawn, .written],
            ]
        case .combined:
            return [
                armed + [
                    .cardDetected, .written, .passesRemoval, .written, .cardDetected, .written, .noApplication,
                    .written,
                ],
                armed + [.cardDetected, .written, .passesSame, .cardAwaited, .read, .connected, .written],
            ]
        case .confirmed:
            return [
                sent + [.tapFinished, .approved, .written, .confirmed],
                sent + [.tapFinished, .approved, .written, .due, .written, .acknowledged, .written],
            ]
        case .stored, .owedSent:
            return [
                [.forward, .written, .unusable, .written, .forward, .neverSeen, .written, .declined, .written],
                [
                    .forward, .written, .unusable, .written, .forwardForgotten, .neverSeen, .written, .forward,
                    .settleNotCharged, .written, .approved, .written,
                ],
                [.forward, .written, .refused, .written, .forward, .written, .approved, .written],
                [.forward, .written, .notDelivered, .written, .forward, .written, .approved, .written],
            ]
        case .interrupted:
            let unseen: [Move] = [
                .recover, .written, .reversalNeverSeen, .written, .due, .reversalNeverSeen, .written,
            ]
            return [
                unseen + [.due, .acknowledged, .written],
                unseen + [.due, .settleCharged, .written, .acknowledged, .written],
                [.recover, .written, .notAsked, .written, .hasten, .notAcknowledged, .written, .settleNotCharged],
            ]
        case .unconfirmed: return [[.due, .written, .acknowledged, .written], [.reverse, .written]]
        }
    }
}
