import Logging
import Loyalty
import Wire

/// A lane as the store keeps it.
struct LaneEntry: Sendable {
    let lane: Lane
    var offersLoyalty: Bool
    /// Its reader exists in software only: not for live payments.
    var isVirtual: Bool { lane.isVirtual }
    var reader: LaneStatus.Reader?
    var holder: LaneStatus.Holder?
    /// What keeps the reader from working; `daemon.unavailable` until it was prepared for the first time.
    var error: ErrorCode? = .daemonUnavailable
    var preparation: LanePreparation?
    var opening: ReaderOpening?
    /// Why the lane has to be prepared; `nil` where it is.
    var pendingPreparation: PrepareReason? = .start
    /// Seconds since 1970 when what was prepared ends, and when it is renewed while it is still good.
    var expiry: Int64?
    var renewal: Int64?
    /// Somebody is looking after the reader.
    var isBeingKept = false
    /// What becomes of it once it is free.
    var change: LaneChange?

    var status: LaneStatus {
        var status = LaneStatus(
            name: lane.name, state: state,
            features: [.purchase, .refund, .verification] + (offersLoyalty ? [.loyalty] : []))
        status.passAutoSelect = reader.map { PassAutoSelection($0).isAvailable } ?? false
        status.reader = reader
        status.holder = holder
        // Not yet prepared for the first time is no fault: the state says it.
        status.error = error.flatMap { $0 == .daemonUnavailable ? nil : ErrorDetail($0) }
        return status
    }

    private var state: LaneStatus.State {
        if preparation?.isQuiet == false, pendingPreparation != nil { return .preparing }
        switch error {
        case .daemonUnavailable: return .preparing
        case .readerDetached, .readerServiceUnavailable: return .detached
        case .some: return .faulty
        case nil: return holder == nil ? .ready : .busy
        }
    }

    /// What refuses a tap. One that is being prepared takes it: it waits.
    var refusal: ErrorCode? {
        if change != nil { return .readerBusy }
        if preparation?.isQuiet == false || error == .daemonUnavailable { return nil }
        // Terms and profile are asked anew with every payment.
        return error.flatMap { $0.isAboutProfile ? nil : $0 }
    }
}

extension TransactionStore {
    func laneStatuses() -> [LaneStatus] {
        lanes.map { entry in
            var status = entry.status
            let names = groups.filter { $0.value.contains(entry.lane.name) }.keys.sorted()
            status.groups = names.isEmpty ? nil : names
            return status
        }
    }

    /// Position of the lane with that name; without one, the first lane that is free, else the first.
    func laneIndex(_ name: String?) -> Int? {
        if let name { return lanes.firstIndex { $0.lane.name == name } }
        return lanes.firstIndex { $0.holder == nil && $0.error == nil } ?? lanes.indices.first
    }

    /// Notes that a lane's reader is there, and says so where it was not before.
    func attached(_ name: String, _ reader: LaneStatus.Reader) {
        guard let index = laneIndex(name) else { return }
        let wasMissing = lanes[index].error?.rawValue.hasPrefix("reader.") ?? false
        guard wasMissing || lanes[index].reader != reader else { return }
        lanes[index].reader = reader
        logger.info("reader attached", metadata: ["lane": "\(name)", "model": "\(reader.model)"])
        publish(Event(.readerAttached, lane: name))
    }

    /// Notes that a lane's reader does not work, and says so where it did before.
    func notReady(_ name: String, _ error: ErrorCode) {
        guard let index = laneIndex(name) else { return }
        if lanes[index].pendingPreparation == nil {
            lanes[index].pendingPreparation = error == .readerDetached ? .readerAttached : .retry
        }
        guard lanes[index].error != error else { return }
        lanes[index].error = error
        if error == .readerDetached { lanes[index].reader = nil }
        logger.warning("reader not ready", metadata: ["lane": "\(name)", "error": "\(error.rawValue)"])
        var event = Event(error == .readerDetached ? .readerDetached : .readerNotReady, lane: name)
        event.error = ErrorDetail(error)
        publish(event)
    }

    /// A tap ended with `error`: notes it where the reader is what does not work.
    func noteTapFailure(_ name: String, _ error: ErrorCode) {
        let ofReader: Set<ErrorCode> = [
            .readerDetached, .readerInUse, .readerServiceUnavailable, .readerFaulty, .readerModelUnsupported,
        ]
        if ofReader.contains(error) { notReady(name, error) }
    }
}
