// SPDX-License-Identifier: Apache-2.0
import Configuration
import Logging
import Loyalty
import POSAPI
import PaymentValues
import ReaderCore
import Transactions

/// The lanes and their readers, for those who look after them; says what becomes of them.
struct LaneRegistry: Sendable {
    var table: Lanes
    private let outlet: EventOutlet
    private let logger: Logger

    init(_ lanes: [Lane], _ configuration: ConfigurationSnapshot, _ outlet: EventOutlet, _ logger: Logger) {
        let offersLoyalty = !configuration.offer.programmes.isEmpty
        table = Lanes(
            lanes.map { LaneRecord($0, offersLoyalty: offersLoyalty) }, groups: configuration.laneGroups)
        self.outlet = outlet
        self.logger = logger
    }

    /// Every lane there is, also one that is to go.
    var all: [Lane] { table.allDevices.map(\.lane) }

    /// Takes what a new configuration says of lanes and groups.
    ///
    /// - Parameter wanted: every lane there is to be, in order, with a new one where its reader has changed.
    mutating func apply(_ configuration: ConfigurationSnapshot, _ wanted: [(name: String, lane: Lane?)]) {
        let offersLoyalty = !configuration.offer.programmes.isEmpty
        table.apply(
            wanted.map { ($0.name, $0.lane.map { LaneRecord($0, offersLoyalty: offersLoyalty) }) },
            groups: configuration.laneGroups, offersLoyalty: offersLoyalty)
    }

    /// Lanes that are not used any more, to be closed.
    mutating func takeRetired() -> [Lane] {
        let retired = table.takeRetired().map(\.lane)
        for lane in retired { logger.notice("lane removed or changed", metadata: ["lane": "\(lane.name)"]) }
        return retired
    }

    // MARK: - Readers that come and go

    /// Notes that a lane's reader is there, and says so where it was not before.
    mutating func attached(_ name: String, _ reader: LaneStatus.Reader) {
        let selects = PassAutoSelection(reader).isAvailable
        guard table.attached(name, reader, passAutoSelect: selects) else { return }
        logger.info("reader attached", metadata: ["lane": "\(name)", "model": "\(reader.model)"])
        outlet.publish(Event(.readerAttached, lane: name))
    }

    /// Notes that a lane's reader does not work, and says so where it did before.
    mutating func notReady(_ name: String, _ error: ErrorCode) {
        guard table.notReady(name, error) else { return }
        logger.warning("reader not ready", metadata: ["lane": "\(name)", "error": "\(error.rawValue)"])
        var event = Event(error == .readerDetached ? .readerDetached : .readerNotReady, lane: name)
        event.error = ErrorDetail(error)
        outlet.publish(event)
    }

    /// A tap ended with `error`: notes it where the reader is what does not work.
    mutating func noteTapFailure(_ name: String, _ error: ErrorCode) {
        let ofReader: Set<ErrorCode> = [
            .readerDetached, .readerInUse, .readerServiceUnavailable, .readerServiceMismatch, .readerAccessDenied,
            .readerWorkerMissing, .readerFaulty, .readerModelUnsupported,
        ]
        if ofReader.contains(error) { notReady(name, error) }
    }

    var hasPCSCLane: Bool { table.lanes.contains { $0.device.lane.usesPCSC } }

    /// Idle lanes to look after; each once until it `wasChecked`.
    mutating func lanesToCheck() -> [Lane] { table.toCheck().map(\.lane) }

    /// Lanes for which a reader that was just plugged in may be.
    var withoutReader: [String] {
        table.lanes.filter { $0.device.lane.usesPCSC && $0.error != nil && $0.isFree }.map(\.name)
    }

    /// A reader is not there any more. One that is in use finds out itself as well, unless its card was read already.
    mutating func readerLeft(_ reader: String) {
        for lane in table.lanes where lane.reader?.name == reader { notReady(lane.name, .readerDetached) }
    }

    // MARK: - Preparations

    /// Lanes that nobody prepares and that need it, with why.
    mutating func lanesToPrepare(at now: Timestamp) -> [(name: String, reason: PrepareReason)] {
        table.toPrepare(at: now.milliseconds / 1_000, renewalPause: LanePreparer.renewalPause)
    }

    /// The daemon's own wish. A lane that is prepared stays so while it is renewed.
    ///
    /// - Returns: `nil` where a preparation runs already, or there is no such lane any more.
    mutating func beginPreparation(of name: String, _ reason: PrepareReason) -> LanePreparation? {
        guard let lane = table[name], lane.device.preparation == nil else { return nil }
        let preparation = LanePreparation(reason, isQuiet: reason == .retry || reason == .readerAttached)
        table.update(name) {
            if reason == .readerAttached, $0.pendingPreparation == nil { $0.pendingPreparation = reason }
            $0.device.preparation = preparation
        }
        return preparation
    }

    /// A client's wish.
    ///
    /// - Returns: the preparation, and whether it has to be run; `nil` where the lane is prepared.
    mutating func joinPreparation(of name: String) -> (LanePreparation, isNew: Bool)? {
        guard let lane = table[name], let reason = lane.pendingPreparation else { return nil }
        if let running = lane.device.preparation {
            running.join()
            return (running, false)
        }
        let preparation = LanePreparation(reason == .start ? .start : .request, isQuiet: false)
        table.update(name) { $0.device.preparation = preparation }
        return (preparation, true)
    }

    /// Tells how far a preparation is, and a transaction that waits for it.
    func tellProgress(of preparation: LanePreparation, _ name: String) {
        guard let lane = table[name], !preparation.isQuiet else { return }
        outlet.publish(preparation.progress(name, for: lane.holder?.transaction))
    }

    /// - Parameter expiry: seconds since 1970 until when it is good; `nil` without an end.
    mutating func endPreparation(
        _ preparation: LanePreparation, of name: String, _ failure: ErrorCode?, until expiry: Int64?
    ) {
        defer { preparation.end(failure) }
        guard let lane = table[name], lane.device.preparation === preparation else { return }
        table.update(name) { $0.device.preparation = nil }
        if let failure { return failed(failure, lane) }
        table.prepared(name, until: expiry, renewal: expiry.map { $0 - LanePreparer.renewal })
        preparation.begin(nil)
        tellProgress(of: preparation, name)
        logger.info("lane prepared", metadata: ["lane": "\(name)", "reason": "\(preparation.reason.rawValue)"])
    }

    private mutating func failed(_ failure: ErrorCode, _ lane: LaneRecord<LaneSeat>) {
        guard lane.pendingPreparation != nil || failure.rawValue.hasPrefix("reader.") else {
            // What was prepared before is good for a while yet.
            return logger.warning(
                "lane not renewed", metadata: ["lane": "\(lane.name)", "error": "\(failure.rawValue)"])
        }
        table.update(lane.name) { $0.pendingPreparation = failure == .readerDetached ? .readerAttached : .retry }
        notReady(lane.name, failure)
    }

    /// The call that opens the lane's reader: the one that has not come back yet, or a new one with the lane to make it
    /// on.
    mutating func opening(of name: String) -> (ReaderOpening, Lane?)? {
        guard let lane = table[name] else { return nil }
        if let opening = lane.device.opening { return (opening, nil) }
        let opening = ReaderOpening()
        table.update(name) { $0.device.opening = opening }
        return (opening, lane.device.lane)
    }

    mutating func openingEnded(_ opening: ReaderOpening, of name: String) {
        guard let lane = table[name], lane.device.opening === opening else { return }
        table.update(name) { $0.device.opening = nil }
    }
}
