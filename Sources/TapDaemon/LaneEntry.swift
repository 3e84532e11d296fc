import Logging
import Loyalty
import Wire

/// A lane as the store keeps it.
struct LaneEntry: Sendable {
    let lane: Lane
    let offersLoyalty: Bool
    var reader: LaneStatus.Reader?
    var holder: LaneStatus.Holder?
    /// What keeps the reader from working; `daemon.unavailable` until it was opened for the first time.
    var error: ErrorCode? = .daemonUnavailable

    var status: LaneStatus {
        let state: LaneStatus.State =
            switch error {
            case .daemonUnavailable: .preparing
            case .readerDetached, .readerServiceUnavailable: .detached
            case .some: .faulty
            case nil: holder == nil ? .ready : .busy
            }
        var status = LaneStatus(
            name: lane.name, state: state,
            features: [.purchase, .refund, .verification] + (offersLoyalty ? [.loyalty] : []))
        status.passAutoSelect = reader.map { PassAutoSelection($0).isAvailable } ?? false
        status.reader = reader
        status.holder = holder
        status.error = error.map { ErrorDetail($0) }
        return status
    }
}

extension TransactionStore {
    func laneStatuses() -> [LaneStatus] { lanes.map(\.status) }

    func lane(of id: TransactionID) -> Lane? {
        guard let name = live[id]?.transaction.lane else { return nil }
        return lanes.first { $0.lane.name == name }?.lane
    }

    /// Position of the lane with that name; without one, the first lane that is free, else the first.
    func laneIndex(_ name: String?) -> Int? {
        if let name { return lanes.firstIndex { $0.lane.name == name } }
        return lanes.firstIndex { $0.holder == nil && $0.error == nil } ?? lanes.indices.first
    }

    func freeLane(of id: TransactionID) {
        for index in lanes.indices where lanes[index].holder?.transaction == id { lanes[index].holder = nil }
    }

    /// Notes that a lane's reader works, and says so where it did not before.
    func attached(_ name: String, _ reader: LaneStatus.Reader) {
        guard let index = laneIndex(name), lanes[index].error != nil || lanes[index].reader != reader else { return }
        lanes[index].reader = reader
        lanes[index].error = nil
        logger.info("reader attached", metadata: ["lane": "\(name)", "model": "\(reader.model)"])
        publish(Event(.readerAttached, lane: name))
    }

    /// Notes that a lane's reader does not work, and says so where it did before.
    func notReady(_ name: String, _ error: ErrorCode) {
        guard let index = laneIndex(name), lanes[index].error != error else { return }
        lanes[index].error = error
        if error == .readerDetached { lanes[index].reader = nil }
        logger.warning("reader not ready", metadata: ["lane": "\(name)", "error": "\(error.rawValue)"])
        var event = Event(error == .readerDetached ? .readerDetached : .readerNotReady, lane: name)
        event.error = ErrorDetail(error)
        publish(event)
    }

    /// Lanes whose reader does not work.
    func lanesToAttach() -> [Lane] { lanes.filter { $0.error != nil && $0.holder == nil }.map(\.lane) }
}
