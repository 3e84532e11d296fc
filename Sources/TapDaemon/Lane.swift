import CardBytes
import EMV
import Loyalty
import ReaderCore
import TapSession
import Wire

/// One reader on its own thread. Every call blocks that thread only, and waits for the call before it.
actor Lane {
    nonisolated let name: String
    private let thread: ReaderThread
    private let source: ReaderSource
    private var reader: (any CardReader)?
    private var mayHoldCard = false
    private var rereads = RereadMemory()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    init(name: String, source: ReaderSource) throws(ReaderError) {
        self.name = name
        self.source = source
        thread = try ReaderThread(name: name)
    }

    /// Opens the reader, or makes sure that the open one is still there.
    func attach() throws(ReaderError) -> LaneStatus.Reader {
        let reader = try opened()
        do throws(ReaderError) {
            _ = try reader.activate(until: monotonicNow(), cancellation: TapCancellation())
        } catch {
            guard error == .timedOut else {
                detach()
                throw error
            }
        }
        reader.release()
        reader.show(.idle)
        return LaneStatus.Reader(reader.identity)
    }

    /// The reader, opened where it is not yet: a tap may be asked for before the lane has been prepared.
    private func opened() throws(ReaderError) -> any CardReader {
        if let reader { return reader }
        let opened = try source.open()
        reader = opened
        return opened
    }

    /// Runs one tap. Progress and the result go to `progress`, which hears when the thread is free again.
    func tap(_ order: TapOrder, _ progress: LanePlace) {
        defer { progress.finish() }
        let reader: any CardReader
        do throws(ReaderError) { reader = RacingReader(try opened(), progress) } catch {
            progress.yield(.ended(.reader(error)))
            return
        }
        awaitRemoval(reader, progress.cancellation)
        mayHoldCard = true
        do throws(PaymentTapError) {
            if let combined = order.combinedTap(reader: name) {
                try tap(combined, on: reader, order, progress)
            } else {
                try order.tap(reader: name).run(
                    on: reader, cancellation: progress.cancellation,
                    onSignal: { progress.yield(.signal($0)) }, deliver: { deliver($0, order, progress) })
            }
        } catch {
            if case .reader(.detached) = error { detach() }
            progress.yield(.ended(error))
        }
    }

    private func tap(
        _ combined: PassAndPaymentTap, on reader: any CardReader, _ order: TapOrder,
        _ progress: LanePlace
    ) throws(PaymentTapError) {
        let ending = combined.run(
            on: reader, cancellation: progress.cancellation,
            onLoyaltySignal: { progress.yield(.loyaltySignal($0)) }, onSignal: { progress.yield(.signal($0)) },
            deliverPasses: { progress.yield(.passes(remembered($0, combined.loyalty.request))) },
            deliverPayment: { deliver($0, order, progress) })
        switch ending {
        case .paid: break
        case .stoppedOnPass: progress.yield(.endedWithPasses)
        case .failed(let error): throw error
        }
    }

    private func deliver(_ result: PaymentTapResult, _ order: TapOrder, _ progress: LanePlace) {
        progress.yield(.result(result))
        // The reader's lamp and the word "remove" come after the adapter has the result.
        _ = order.delivered.wait(until: monotonicNow().advanced(byMilliseconds: TapOrder.deliveryMilliseconds))
    }

    /// Reads passes and nothing else. Progress goes to `progress`, which hears when the thread is free again.
    func readPasses(_ order: LoyaltyOrder, _ progress: LanePlace) {
        defer { progress.finish() }
        let reader: any CardReader
        do throws(ReaderError) { reader = RacingReader(try opened(), progress) } catch {
            progress.yield(.ended(.reader(error)))
            return
        }
        awaitRemoval(reader, progress.cancellation)
        mayHoldCard = true
        do throws(ReaderError) {
            let outcome = try order.tap.run(on: reader, cancellation: progress.cancellation) {
                progress.yield(.loyaltySignal($0))
            }
            progress.yield(.passes(remembered(outcome, order.request)))
            progress.yield(.endedWithPasses)
        } catch {
            if error == .detached { detach() }
            progress.yield(.ended(.reader(error)))
        }
    }

    /// The outcome with passes that were read a moment ago marked as repeated.
    private func remembered(_ outcome: LoyaltyOutcome, _ request: LoyaltyRequest) -> LoyaltyOutcome {
        var outcome = outcome
        rereads.apply(to: &outcome, request: request, now: monotonicNow())
        return outcome
    }

    /// What the customer sees of the adapter's answer.
    func show(_ feedback: ReaderFeedback) { reader?.show(feedback) }

    func close() {
        detach()
        thread.stop()
    }

    private func detach() {
        reader?.close()
        reader = nil
        mayHoldCard = false
    }

    /// A card left lying from the tap before must not pay again at once. It gets a moment to go; one that lies still
    /// after that was meant.
    private func awaitRemoval(_ reader: any CardReader, _ cancellation: TapCancellation) {
        guard mayHoldCard else { return }
        mayHoldCard = false
        let deadline = monotonicNow().advanced(byMilliseconds: 2_000)
        do throws(ReaderError) {
            try reader.waitForRemoval(until: deadline, cancellation: cancellation)
        } catch {
            // Whatever it is, the tap that follows meets it too and reports it.
        }
    }
}

extension LaneStatus.Reader {
    init(_ identity: ReaderIdentity) {
        self.init(
            name: identity.name, model: identity.model, driver: identity.driver.rawValue, firmware: identity.firmware,
            serial: identity.serial)
    }
}
