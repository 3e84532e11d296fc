import Journal
import Wire

extension TransactionStore {
    /// The lanes of which one will take the transaction's card, in the order in which they were named.
    func reservedLanes(of id: TransactionID) -> [Lane] {
        let names = live[id]?.lanes ?? []
        return names.compactMap { name in
            lanes.first { $0.lane.name == name && $0.holder?.transaction == id }?.lane
        }
    }

    func freeLane(of id: TransactionID) {
        for index in lanes.indices where lanes[index].holder?.transaction == id { lanes[index].holder = nil }
        changeFreeLanes()
    }

    /// One lane of several, which the transaction does not need any more.
    func freeLane(_ name: String, of id: TransactionID) {
        guard let index = laneIndex(name), lanes[index].holder?.transaction == id else { return }
        lanes[index].holder = nil
        changeFreeLanes()
    }

    /// Lanes that may take the card: those the request names that are free, or what refuses it. One that is still being
    /// prepared takes a tap: it waits.
    func freeLanes(for request: TransactionRequest) -> Result<[Int], ErrorBody> {
        let named: [Int]
        if let group = request.group {
            guard let members = groups[group] else { return .failure(ErrorBody(.laneUnknown, field: "group")) }
            named = members.compactMap { laneIndex($0) }
        } else if let names = request.lanes {
            named = names.compactMap { laneIndex($0) }
            guard named.count == names.count else { return .failure(ErrorBody(.laneUnknown, field: "lanes")) }
        } else {
            named = laneIndex(request.lane).map { [$0] } ?? []
        }
        let free = named.filter { lanes[$0].holder == nil && lanes[$0].refusal == nil }
        if !free.isEmpty { return .success(free) }
        if let holder = named.compactMap({ lanes[$0].holder }).first {
            return .failure(ErrorBody(.readerBusy, transaction: holder.transaction))
        }
        if let refusal = named.compactMap({ lanes[$0].refusal }).first { return .failure(ErrorBody(refusal)) }
        return .failure(ErrorBody(.laneUnknown, field: request.group == nil ? "lane" : "group"))
    }

    /// The lanes wait for the card from now on.
    func arm(_ id: TransactionID, _ armed: [Lane]) async throws(JournalError) {
        var change = StateChange(.armed)
        change.lane = armed.first?.name
        try await self.change(id, [change])
        guard let deadline = live[id]?.deadline else { return }
        let until = Timestamp(milliseconds: Timestamp.now.milliseconds + Int64(deadline) * 1_000)
        for index in lanes.indices where lanes[index].holder?.transaction == id { lanes[index].holder?.until = until }
    }

    /// From now on a wish to cancel reaches the race.
    func enter(_ race: LaneRace, _ id: TransactionID) {
        live[id]?.race = race
        if live[id]?.isUnwanted.hasFired ?? true { race.cancel() }
    }

    /// Notes that a card could not be read.
    ///
    /// - Returns: how often that has happened now, over all transactions of the same order.
    func countFailedRead(_ id: TransactionID) -> Int {
        guard var known = live[id] else { return 0 }
        known.failedReads += 1
        live[id] = known
        guard let order = known.transaction.order else { return known.failedReads }
        let earlier = failedReads.first { $0.order == order }?.count ?? 0
        failedReads.removeAll { $0.order == order }
        failedReads.append((order, earlier + 1))
        if failedReads.count > 64 { failedReads.removeFirst() }
        return earlier + 1
    }

    /// A card was read: the next failure of the same order is a first one.
    func forgetFailedReads(_ id: TransactionID) {
        guard let order = live[id]?.transaction.order else { return }
        failedReads.removeAll { $0.order == order }
    }
}
