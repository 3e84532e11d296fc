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
                // Another slot of the same device.
                let firmware = identity.firmware
                identity = ReaderIdentity(slot)
                identity.firmware = firmware
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

extension PCSCReader {
    /// Asks the driver for the version of the device's firmware. What fails here fails nobody's tap: the firmware is unknown then.
    func learnFirmware() {
        // Only models that libccid or ACS's driver drives: they tell what the device says. Others tell the version of the driver itself,
        // REINER SCT's own for a model among these.
        let isTold = ReaderModels.model(named: identity.name) != nil && !identity.name.hasPrefix("REINER SCT")
        guard isTold, let link = talking?.link else { return }
        do throws(PCSCFailure) {
            identity.firmware = try callGuard.run(within: .indicator, severing: link) { () throws(PCSCFailure) in
                try talking?.connectDirectly(to: identity.name).firmware()
            }
        } catch {
            if error.endsContext { _ = fail(error) }
        }
    }
}

extension ReaderState {
    /// Whether a card lies there whose ATR can be no card's with contacts, though the name of the slot tells nothing.
    var hasContactlessCard: Bool {
        hasCard && atr.count > 1 && atr.first == 0x3B && ContactlessATR.mayBeContactless(atr, in: .unknown)
    }
}
