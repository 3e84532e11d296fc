import Logging
import Wire

extension TransactionStore {
    /// Lanes that nobody prepares and that need it, with why: not prepared, or good for a short time only. The reader's
    /// thread of one that a transaction holds is in use.
    func lanesToPrepare(at now: Timestamp) -> [(name: String, reason: PrepareReason)] {
        let seconds = now.milliseconds / 1_000
        var found: [(name: String, reason: PrepareReason)] = []
        for index in lanes.indices {
            if lanes[index].pendingPreparation == nil, let end = lanes[index].expiry, seconds >= end {
                lanes[index].pendingPreparation = .expiry
            }
            guard lanes[index].preparation == nil, lanes[index].holder == nil else { continue }
            if let reason = lanes[index].pendingPreparation {
                found.append((lanes[index].lane.name, reason))
            } else if let renewal = lanes[index].renewal, seconds >= renewal {
                lanes[index].renewal = seconds + LanePreparer.renewalPause
                found.append((lanes[index].lane.name, .expiry))
            }
        }
        return found
    }

    /// Nothing that was prepared counts any more.
    func forgetPreparations(because reason: PrepareReason) {
        for index in lanes.indices where lanes[index].pendingPreparation == nil {
            lanes[index].pendingPreparation = reason
        }
    }

    /// The daemon's own wish. A lane that is prepared stays so while it is renewed.
    ///
    /// - Returns: `nil` where a preparation runs already, or there is no such lane any more.
    func beginPreparation(of name: String, _ reason: PrepareReason) -> LanePreparation? {
        guard let index = laneIndex(name), lanes[index].preparation == nil else { return nil }
        if reason == .readerAttached, lanes[index].pendingPreparation == nil {
            lanes[index].pendingPreparation = reason
        }
        let preparation = LanePreparation(reason, isQuiet: reason == .retry || reason == .readerAttached)
        lanes[index].preparation = preparation
        return preparation
    }

    /// A client's wish.
    ///
    /// - Returns: the preparation, and whether it has to be run; `nil` where the lane is prepared.
    func joinPreparation(of name: String) -> (LanePreparation, isNew: Bool)? {
        guard let index = laneIndex(name), let reason = lanes[index].pendingPreparation else { return nil }
        if let running = lanes[index].preparation {
            running.join()
            return (running, false)
        }
        let preparation = LanePreparation(reason == .start ? .start : .request, isQuiet: false)
        lanes[index].preparation = preparation
        return (preparation, true)
    }

    /// Tells how far a preparation is, and a transaction that waits for it.
    func tellProgress(of preparation: LanePreparation, _ name: String) {
        guard let index = laneIndex(name), !preparation.isQuiet else { return }
        publish(preparation.progress(name, for: lanes[index].holder?.transaction))
    }

    /// - Parameter expiry: seconds since 1970 until when it is good; `nil` without an end.
    func endPreparation(_ preparation: LanePreparation, of name: String, _ failure: ErrorCode?, until expiry: Int64?) {
        defer { preparation.end(failure) }
        guard let index = laneIndex(name), lanes[index].preparation === preparation else { return }
        lanes[index].preparation = nil
        if let failure { return failed(failure, index) }
        lanes[index].pendingPreparation = nil
        lanes[index].error = nil
        lanes[index].expiry = expiry
        lanes[index].renewal = expiry.map { $0 - LanePreparer.renewal }
        preparation.begin(nil)
        tellProgress(of: preparation, name)
        logger.info("lane prepared", metadata: ["lane": "\(name)", "reason": "\(preparation.reason.rawValue)"])
    }

    private func failed(_ failure: ErrorCode, _ index: Int) {
        let name = lanes[index].lane.name
        guard lanes[index].pendingPreparation != nil || failure.rawValue.hasPrefix("reader.") else {
            // What was prepared before is good for a while yet.
            return logger.warning("lane not renewed", metadata: ["lane": "\(name)", "error": "\(failure.rawValue)"])
        }
        lanes[index].pendingPreparation = failure == .readerDetached ? .readerAttached : .retry
        notReady(name, failure)
    }

    /// The call that opens the lane's reader: the one that has not come back yet, or a new one with the lane to make it
    /// on.
    func opening(of name: String) -> (ReaderOpening, Lane?)? {
        guard let index = laneIndex(name) else { return nil }
        if let opening = lanes[index].opening { return (opening, nil) }
        let opening = ReaderOpening()
        lanes[index].opening = opening
        return (opening, lanes[index].lane)
    }

    func openingEnded(_ opening: ReaderOpening, of name: String) {
        guard let index = laneIndex(name), lanes[index].opening === opening else { return }
        lanes[index].opening = nil
    }
}
