// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import ReaderCore
import Transactions

extension TransactionTable {
    /// Lets a lane that stands alone wait for its next card, in the same step in which it was found free and ready.
    ///
    /// - Returns: `nil` where something else has it or it is not ready; it is asked for again.
    mutating func lendStanding(_ name: String) -> (lane: Lane, cancellation: TapCancellation)? {
        guard !isStopping, let found = lanes.table[name], found.error == nil, found.pendingPreparation == nil,
            found.device.preparing == .not, case .success(let seat) = lanes.table.lend(name)
        else { return nil }
        lanes.table.update(name) { $0.standsArmed = true }
        let cancellation = TapCancellation()
        standing[name] = cancellation
        return (seat.lane, cancellation)
    }

    /// - Parameter code: why the reader does not work.
    mutating func withdrawStanding(_ name: String, after code: ErrorCode?) {
        standing[name] = nil
        lanes.table.update(name) { $0.standsArmed = false }
        withdraw(name, after: code)
    }
}

extension AdmissionRequest {
    /// What a tap on a lane that stands alone begins: a purchase, or a read of passes. Its key is the lane and the number of the tap.
    init(_ tap: StandingTap, on lane: String, owner: Principal) {
        var request = TransactionRequest(type: tap.mode == .read ? .loyalty : .purchase, amount: tap.amount)
        request.lane = lane
        // The machine is not there yet that would have to be.
        request.detached = true
        request.deadline = StandingTap.deadline
        switch tap.mode {
        case .sale: request.confirmWithin = tap.claim
        case .hold, .ask:
            // What is kept is claimed before it is sent.
            if tap.mode == .hold { request.confirmWithin = tap.claim }
            request.amountStatus = .preauthorized
            request.capture = CaptureOptions(.manual)
        case .read: break
        }
        let key = "standing-\(lane)-\(tap.number)"
        self.init(request: request, key: PrincipalKey(owner, key: key), requestHash: key)
        standing = tap
    }
}
