// SPDX-License-Identifier: Apache-2.0
import Configuration
import Logging
import Loyalty
import ReaderCore
import Transactions
import Wire

/// The lanes, for those who look after them.
extension TransactionRunner {
    func laneStatuses() -> [LaneStatus] { lanes.statuses }

    /// Takes what a new configuration says of lanes and groups.
    ///
    /// - Parameter wanted: every lane there is to be, in order, with a new one where its reader has changed.
    func apply(_ configuration: ConfigurationSnapshot, lanes wanted: [(name: String, lane: Lane?)]) {
        let offersLoyalty = !configuration.offer.programmes.isEmpty
        lanes.apply(
            wanted.map { ($0.name, $0.lane.map { LaneRecord($0, offersLoyalty: offersLoyalty) }) },
            groups: configuration.laneGroups, offersLoyalty: offersLoyalty)
    }

    /// Lanes that are not used any more, to be closed.
    func takeRetired() -> [Lane] {
        let retired = lanes.takeRetired().map(\.lane)
        for lane in retired { logger.notice("lane removed or changed", metadata: ["lane": "\(lane.name)"]) }
        return retired
    }

    /// Every lane there is, also one that is to go.
    func allLanes() -> [Lane] { lanes.allDevices.map(\.lane) }

    /// One lane of several, which the transaction does not need any more.
    func freeLane(_ name: String, of id: TransactionID) { lanes.release(by: id, only: name) }

    // MARK: - Readers that come and go

    /// Notes that a lane's reader is there, and says so where it was not before.
    func attached(_ name: String, _ reader: LaneStatus.Reader) {
        let selects = PassAutoSelection(reader).isAvailable
        guard lanes.attached(name, reader, passAutoSelect: selects) else { return }
        logger.info("reader attached", metadata: ["lane": "\(name)", "model": "\(reader.model)"])
        publish(Event(.readerAttached, lane: name))
    }

    /// Notes that a lane's reader does not work, and says so where it did before.
    func notReady(_ name: String, _ error: ErrorCode) {
        guard lanes.notReady(name, error) else { return }
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

    var hasPCSCLane: Bool { lanes.lanes.contains { $0.device.lane.usesPCSC } }

    /// Idle lanes to look after; each once until it `wasChecked`.
    func lanesToCheck() -> [Lane] { lanes.toCheck().map(\.lane) }

    func wasChecked(_ name: String) { lanes.wasChecked(name) }

    /// Lanes for which a reader that was just plugged in may be.
    func lanesWithoutReader() -> [String] {
        lanes.lanes.filter { $0.device.lane.usesPCSC && $0.error != nil && $0.holder == nil }.map(\.name)
    }

    /// A reader is not there any more. One that is in use finds out itself as well, unless its card was read already.
    func readerLeft(_ reader: String) {
        for lane in lanes.lanes where lane.reader?.name == reader { notReady(lane.name, .readerDetached) }
    }

    // MARK: - Preparations

    /// Lanes that nobody prepares and that need it, with why.
    func lanesToPrepare(at now: Timestamp) -> [(name: String, reason: PrepareReason)] {
        lanes.toPrepare(at: now.milliseconds / 1_000, renewalPause: LanePreparer.renewalPause)
    }

    /// Nothing that was prepared counts any more.
    func forgetPreparations(because reason: PrepareReason) { lanes.forgetPreparations(because: reason) }

    /// The daemon's own wish. A lane that is prepared stays so while it is renewed.
    ///
    /// - Returns: `nil` where a preparation runs already, or there is no such lane any more.
    func beginPreparation(of name: String, _ reason: PrepareReason) -> LanePreparation? {
        guard let lane = lanes[name], lane.device.preparation == nil else { return nil }
        let preparation = LanePreparation(reason, isQuiet: reason == .retry || reason == .readerAttached)
        lanes.update(name) {
            if reason == .readerAttached, $0.pendingPreparation == nil { $0.pendingPreparation = reason }
            $0.device.preparation = preparation
        }
        return preparation
    }

    /// A client's wish.
    ///
    /// - Returns: the preparation, and whether it has to be run; `nil` where the lane is prepared.
    func joinPreparation(of name: String) -> (LanePreparation, isNew: Bool)? {
        guard let lane = lanes[name], let reason = lane.pendingPreparation else { return nil }
        if let running = lane.device.preparation {
            running.join()
            return (running, false)
        }
        let preparation = LanePreparation(reason == .start ? .start : .request, isQuiet: false)
        lanes.update(name) { $0.device.preparation = preparation }
        return (preparation, true)
    }

    /// Tells how far a preparation is, and a transaction that waits for it.
    func tellProgress(of preparation: LanePreparation, _ name: String) {
        guard let lane = lanes[name], !preparation.isQuiet else { return }
        publish(preparation.progress(name, for: lane.holder?.transaction))
    }

    /// - Parameter expiry: seconds since 1970 until when it is good; `nil` without an end.
    func endPreparation(_ preparation: LanePreparation, of name: String, _ failure: ErrorCode?, until expiry: Int64?) {
        defer { preparation.end(failure) }
        guard let lane = lanes[name], lane.device.preparation === preparation else { return }
        lanes.update(name) { $0.device.preparation = nil }
        if let failure { return failed(failure, lane) }
        lanes.prepared(name, until: expiry, renewal: expiry.map { $0 - LanePreparer.renewal })
        preparation.begin(nil)
        tellProgress(of: preparation, name)
        logger.info("lane prepared", metadata: ["lane": "\(name)", "reason": "\(preparation.reason.rawValue)"])
    }

    private func failed(_ failure: ErrorCode, _ lane: LaneRecord<LaneSeat>) {
        guard lane.pendingPreparation != nil || failure.rawValue.hasPrefix("reader.") else {
            // What was prepared before is good for a while yet.
            return logger.warning(
                "lane not renewed", metadata: ["lane": "\(lane.name)", "error": "\(failure.rawValue)"])
        }
        lanes.update(lane.name) { $0.pendingPreparation = failure == .readerDetached ? .readerAttached : .retry }
        notReady(lane.name, failure)
    }

    /// The call that opens the lane's reader: the one that has not come back yet, or a new one with the lane to make it
    /// on.
    func opening(of name: String) -> (ReaderOpening, Lane?)? {
        guard let lane = lanes[name] else { return nil }
        if let opening = lane.device.opening { return (opening, nil) }
        let opening = ReaderOpening()
        lanes.update(name) { $0.device.opening = opening }
        return (opening, lane.device.lane)
    }

    func openingEnded(_ opening: ReaderOpening, of name: String) {
        guard let lane = lanes[name], lane.device.opening === opening else { return }
        lanes.update(name) { $0.device.opening = nil }
    }
}
