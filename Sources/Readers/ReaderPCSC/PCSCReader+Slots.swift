// SPDX-License-Identifier: Apache-2.0
import CPCSC
import CardBytes
import ReaderCore
import ReaderModels

extension PCSCReader {
    /// Waits for a contactless card on one of several slots, and keeps to that slot from then on. Returns at once where there
    /// is one slot only. A card with contacts, and a SAM that does not answer, are none of ours.
    ///
    /// Beside something that does not answer the first card is noticed 0.4 s later: libpcsclite gives that so long.
    func settleSlot(until deadline: TapInstant, cancellation: TapCancellation) throws(PCSCFailure) {
        var known = slots.map { _ in ReaderState.unaware }
        while slots.count > 1 {
            guard
                let states = try waiting?.nextStates(
                    of: slots.map(\.full), unless: known, until: deadline, cancellation: cancellation,
                    guardedBy: callGuard)
            else { throw .noContext }
            if states.contains(where: \.isGone) { throw PCSCFailure(.getStatusChange, 0, meaning: .readerGone) }
            if states.allSatisfy(\.isUnavailable) {
                throw PCSCFailure(.getStatusChange, cpcsc_code(SCARD_E_READER_UNAVAILABLE))
            }
            if let (slot, _) = zip(slots, states).first(where: { $1.hasContactlessCard }) {
                slots = [slot]
                identity = ReaderIdentity(slot)
            } else if monotonicNow() >= deadline {
                throw .timedOut
            }
            known = states
        }
    }

    /// Whether it is known by now which slot is meant.
    func hasSettledSlot(_ cancellation: TapCancellation) throws(PCSCFailure) -> Bool {
        do throws(PCSCFailure) { try settleSlot(until: monotonicNow(), cancellation: cancellation) } catch {
            guard error.meaning == .timedOut else { throw error }
            return false
        }
        return true
    }
}

extension ReaderState {
    /// Whether a card lies there whose ATR can be no card's with contacts, though the name of the slot tells nothing.
    var hasContactlessCard: Bool {
        hasCard && atr.count > 1 && atr.first == 0x3B && ContactlessATR.mayBeContactless(atr, in: .unknown)
    }
}
