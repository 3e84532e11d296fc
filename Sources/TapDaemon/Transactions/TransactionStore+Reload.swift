import Configuration
import Logging
import Wire

extension TransactionStore {
    /// Takes what a new configuration says of the shop and its lanes.
    ///
    /// - Parameter wanted: every lane there is to be, in order, with a new one where its reader has changed.
    func apply(_ settings: ConfigurationSnapshot, lanes wanted: [(name: String, lane: Lane?)]) {
        offer = settings.offer
        groups = settings.laneGroups
        merchant = settings.shop
        terminal = settings.terminal.id
        var next: [LaneEntry] = []
        for (name, lane) in wanted {
            let fresh = lane.map { LaneEntry(lane: $0, offersLoyalty: !offer.programmes.isEmpty) }
            guard let index = laneIndex(name) else {
                if let fresh { next.append(fresh) }
                continue
            }
            var entry = lanes[index]
            entry.offersLoyalty = !offer.programmes.isEmpty
            entry.change = fresh.map { .replaced($0) }
            next.append(entry)
        }
        for entry in lanes where !wanted.contains(where: { $0.name == entry.lane.name }) {
            var leaving = entry
            leaving.change = .removed
            next.append(leaving)
        }
        lanes = next
        // Key and terminal may be others: what was prepared was prepared with the old ones.
        forgetPreparations(because: .request)
        changeFreeLanes()
    }

    /// Removes and replaces lanes that had to wait until they were free.
    func changeFreeLanes() {
        for index in lanes.indices.reversed() where lanes[index].holder == nil {
            let name = lanes[index].lane.name
            switch lanes[index].change {
            case nil: continue
            case .removed:
                retired.append(lanes[index].lane)
                lanes.remove(at: index)
                logger.notice("lane removed", metadata: ["lane": "\(name)"])
            case .replaced(let entry):
                retired.append(lanes[index].lane)
                lanes[index] = entry
                logger.notice("lane changed", metadata: ["lane": "\(name)"])
            }
        }
    }

    /// Lanes that are not used any more, to be closed.
    func takeRetired() -> [Lane] {
        defer { retired = [] }
        return retired
    }

    /// Every lane there is, also one that is to go.
    func allLanes() -> [Lane] { lanes.map(\.lane) + retired }
}
