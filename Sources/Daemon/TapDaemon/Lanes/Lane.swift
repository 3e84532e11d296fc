// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Linux
import Loyalty
import POSAPI
import ReaderCore
import TapSession

/// One reader on its own thread. Every call blocks that thread only, and waits for the call before it.
actor Lane {
    nonisolated let name: String
    nonisolated let isVirtual: Bool
    private let thread: SerialThread
    private let source: ReaderSource
    private var reader: (any CardReader)?
    private var mayHoldCard = false
    private var rereads = RereadMemory()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    init(name: String, source: ReaderSource) throws(ReaderError) {
        self.name = name
        self.source = source
        isVirtual = source.isVirtual
        thread = try ReaderError.system(try SerialThread(name: name))
    }

    nonisolated var usesPCSC: Bool {
        if case .pcsc = source { true } else { false }
    }

    /// Opens the reader anew and makes sure that it works.
    func attach() throws(ReaderError) -> LaneStatus.Reader {
        detach()
        let reader = try opened()
        do throws(ReaderError) {
            _ = try reader.activate(until: monotonicNow(), cancellation: TapCancellation())
            // A card that lies there now was not put there for the next request; a virtual one may well have been.
            if reader.identity.driver != .virtual { mayHoldCard = true }
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

    /// Makes sure that the open reader still works.
    func check() throws(ReaderError) {
        guard let reader else { throw .detached }
        do throws(ReaderError) { try reader.check() } catch {
            detach()
            throw error
        }
    }

    /// The reader, opened where it is not yet, or not any more: a tap may be asked for before the lane has been
    /// prepared, and before it is known that pcscd was started again.
    private func opened() throws(ReaderError) -> any CardReader {
        if let reader {
            do throws(ReaderError) {
                try reader.check()
                return reader
            } catch {
                detach()
            }
        }
        let opened = try source.open()
        reader = opened
        return opened
    }

    /// Runs one tap. Progress and the result go to `progress`, which hears when the thread is free again.
    func tap(_ order: TapOrder, _ progress: RaceEntry) {
        defer { progress.finish() }
        var order = order
        if order.takesPresentCard { mayHoldCard = false }
        let takesTags = order.loyalty != nil
        guard let reader = racingReader(&order.deadline, order.latest, progress, takesTags: takesTags) else { return }
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

    /// - Returns: `nil` where the reader is not ready, which `progress` has been told.
    private func racingReader(
        _ deadline: inout Int, _ latest: TapInstant?, _ progress: RaceEntry, takesTags: Bool
    ) -> (any CardReader)? {
        do throws(ReaderError) {
            return RacingReader(try readied(&deadline, latest, progress), progress, takesTags: takesTags)
        } catch {
            progress.yield(.ended(.reader(error)))
            return nil
        }
    }

    private func tap(
        _ combined: PassAndPaymentTap, on reader: any CardReader, _ order: TapOrder,
        _ progress: RaceEntry
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

    private func deliver(_ result: PaymentTapResult, _ order: TapOrder, _ progress: RaceEntry) {
        progress.yield(.result(result))
        // The reader's lamp and the word "remove" come after the adapter has the result.
        _ = order.delivered.wait(until: monotonicNow().advanced(byMilliseconds: TapOrder.deliveryMilliseconds))
    }

    /// Reads passes and nothing else. Progress goes to `progress`, which hears when the thread is free again.
    func readPasses(_ order: LoyaltyOrder, _ progress: RaceEntry) {
        defer { progress.finish() }
        var order = order
        if order.takesPresentCard { mayHoldCard = false }
        guard let reader = racingReader(&order.deadline, order.latest, progress, takesTags: true) else { return }
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

    /// Waits until a card comes to the empty reader of a lane that stands alone, and leaves it to the tap that follows.
    ///
    /// - Parameter passes: what is read there; `nil` for cards that pay.
    /// - Returns: whether one has come, before `end` and before somebody cancelled it.
    func awaitCard(
        until end: TapInstant, for passes: LoyaltyRequest?, _ cancellation: TapCancellation
    ) throws(ReaderError) -> Bool {
        do throws(ReaderError) {
            let reader = try opened()
            reader.broadcast = passes.map { ECPFrame($0.purpose.mode).payload } ?? []
            defer {
                reader.broadcast = []
                reader.release()
            }
            // One presentation is one tap: a virtual card, too, has to leave.
            if mayHoldCard { try reader.waitForRemoval(until: end, cancellation: cancellation) }
            mayHoldCard = false
            reader.show(.ready)
            while monotonicNow() < end, !cancellation.isCancelled {
                switch try reader.activate(until: end, cancellation: cancellation) {
                case .card(let card) where card.takesCommands != false || passes != nil:
                    mayHoldCard = true
                    return true
                // A ticket or a key ring: it pays for nothing.
                case .card:
                    reader.release()
                    sleep(milliseconds: 250)
                case .collision, .emptied, .unreadable: sleep(milliseconds: 100)
                }
            }
            return false
        } catch {
            if error == .timedOut || error == .cancelled { return false }
            if error == .detached { detach() }
            throw error
        }
    }

    /// Sends an administrator's commands to a card: to one that lies there too, because none of them is money.
    func converse(_ conversation: CardConversation) {
        do throws(ReaderError) {
            let reader = try opened()
            // It pays for nothing before it has left.
            mayHoldCard = true
            defer {
                reader.release()
                reader.show(.idle)
            }
            try conversation.run(on: reader)
        } catch {
            if error == .detached { detach() }
            conversation.stop(error)
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
    }

    /// The reader, with nothing on it that was there before the request.
    ///
    /// - Parameter seconds: for the card to be presented; becomes what is left of them.
    private func readied(
        _ seconds: inout Int, _ latest: TapInstant?, _ place: RaceEntry
    ) throws(ReaderError) -> any CardReader {
        let reader = try opened()
        if mayHoldCard {
            let begin = monotonicNow()
            do throws(ReaderError) {
                try awaitRemoval(reader, until: .end(of: seconds, latest), place)
            } catch {
                if error == .detached { detach() }
                throw error
            }
            // Those who wait for this lane allow for two seconds beyond its time.
            let waited = Int(monotonicNow().nanoseconds(since: begin) / 1_000_000_000)
            seconds = max(1, seconds - max(0, waited - 2))
        }
        mayHoldCard = true
        return reader
    }

    /// A card that lies there from before must not pay for this request: it has to leave, and come back if it is meant.
    /// Virtual cards obey commands; one that nobody took away after two seconds was left there on purpose.
    private func awaitRemoval(
        _ reader: any CardReader, until deadline: TapInstant, _ place: RaceEntry
    ) throws(ReaderError) {
        let isVirtual = reader.identity.driver == .virtual
        do throws(ReaderError) {
            let patience = monotonicNow().advanced(byMilliseconds: isVirtual ? 2_000 : 200)
            try reader.waitForRemoval(until: patience, cancellation: place.cancellation)
        } catch {
            guard error == .timedOut else { throw error }
            guard !isVirtual else { return }
            place.yield(.cardLeft)
            try reader.waitForRemoval(until: deadline, cancellation: place.cancellation)
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
