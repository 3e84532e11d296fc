// SPDX-License-Identifier: Apache-2.0
import PINDevice
import PINDeviceAPI
import POSAPI
import PaymentValues
import Transactions

/// What a transaction and the PIN device of its lane have to say to each other.
struct PINConversation: Sendable {
    let running: LiveTransaction

    private var place: PINDeviceSlot? { running.pinPlaces[running.transaction.lane] }

    /// Has the customer asked, and says what came of it.
    func ask(_ demand: PINRequest, within time: Duration) async -> Input {
        .pin(await reply(demand, within: time), demand.attempt.id)
    }

    private func reply(_ demand: PINRequest, within time: Duration) async -> PINReply {
        guard let place else { return .failed }
        let transaction = running.transaction
        var request = PINEntryRequest(
            id: demand.attempt.id, mode: transaction.mode, transaction: transaction.id, amount: transaction.amount,
            account: demand.account, format: demand.attempt.format, keySet: demand.attempt.keySet,
            timeout: Int(time.components.seconds))
        request.language = running.machine.demand.language
        request.lastTry = demand.isLastTry ? true : nil
        request.accessible = running.machine.demand.isAccessible ? true : nil
        // The device's own end comes first.
        guard let entry = await PINDeviceLink(place.settings).entry(request, within: time + .seconds(1)) else {
            return .failed
        }
        switch entry.state {
        case .entered: return place.offer.pin(from: entry, for: request).map { .entered($0) } ?? .failed
        case .cancelled, .bypassed: return .cancelled
        case .timedOut: return .timedOut
        case .waiting, .entering, .failed: return .failed
        }
    }

    func withdraw(_ attempt: PINAttempt) async {
        guard let place else { return }
        await PINDeviceLink(place.settings).withdraw(attempt.id)
    }
}
