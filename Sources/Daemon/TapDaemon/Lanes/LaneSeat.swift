// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Transactions

/// The way to a lane's reader, with what is being done about it.
struct LaneSeat: LaneDevice {
    let lane: Lane
    var preparation: LanePreparation?
    var opening: ReaderOpening?

    var preparing: LanePreparing {
        guard let preparation else { return .not }
        return preparation.isQuiet ? .quietly : .openly
    }
}

typealias Lanes = LaneTable<LaneSeat>

extension LaneRecord<LaneSeat> {
    init(_ lane: Lane, offersLoyalty: Bool) {
        self.init(
            name: lane.name, isVirtual: lane.isVirtual, device: LaneSeat(lane: lane), offersLoyalty: offersLoyalty)
    }
}
