// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import Loyalty
public import ReaderCore

/// One tap for passes from end to end. Uses no payment application.
public struct LoyaltyTap: Sendable {
    public var request: LoyaltyRequest
    public var deadlines: TapDeadlines

    public init(request: LoyaltyRequest, deadlines: TapDeadlines) {
        self.request = request
        self.deadlines = deadlines
    }

    /// Runs on the reader's own thread, which it blocks. Whatever comes of it, the reader is released at the end.
    ///
    /// A phone that could not give its pass in time (locked, no choice made) is an outcome that says so.
    /// - Throws: `.timedOut` where nothing was presented, `.cancelled`, or what keeps the reader from working.
    public func run(
        on reader: any CardReader, cancellation: TapCancellation,
        clock: @escaping () -> TapInstant = monotonicNow, onSignal: @escaping (LoyaltyTapSignal) -> Void
    ) throws(ReaderError) -> LoyaltyOutcome {
        defer { reader.release() }
        do throws(ReaderError) {
            let outcome = try read(on: reader, cancellation: cancellation, clock: clock, onSignal: onSignal)
            reader.show(outcome.isSuccess ? .read : .error)
            return outcome
        } catch {
            reader.show(error == .timedOut || error == .cancelled ? .idle : .error)
            throw error
        }
    }

    /// As `run`, but leaves the card active and the lamps to whoever goes on with it.
    func read(
        on reader: any CardReader, cancellation: TapCancellation, clock: @escaping () -> TapInstant,
        onSignal: @escaping (LoyaltyTapSignal) -> Void
    ) throws(ReaderError) -> LoyaltyOutcome {
        let observed = ObservedReader(reader, clock: clock, onWait: {}) { presence in
            switch presence {
            case .card: onSignal(.cardDetected)
            case .collision: onSignal(.collision)
            case .emptied: break
            case .unreadable: onSignal(.unreadable)
            }
        }
        var machine = LoyaltyRead(request)
        reader.broadcast = ECPFrame(request.purpose.mode).payload
        defer { reader.broadcast = [] }
        do throws(ReaderError) {
            return try drive(
                &machine, on: observed, deadlines: deadlines, cancellation: cancellation, clock: clock
            ) { signal in
                reader.show(LoyaltyTap.feedback(signal))
                onSignal(.show(signal))
            }
        } catch {
            guard error == .timedOut else { throw error }
            let outcome = machine.stop(now: clock())
            guard outcome.entries.contains(where: { $0.status != .notAsked }) else { throw error }
            return outcome
        }
    }

    private static func feedback(_ signal: LoyaltySignal) -> ReaderFeedback {
        switch signal {
        case .readyForPass: .ready
        case .reading: .processing
        case .again: .tryAgain
        }
    }
}

extension LoyaltyOutcome {
    /// Whether the customer got what was offered: a pass given or known already, or an invitation.
    var isSuccess: Bool {
        entries.contains { $0.status == .delivered || $0.status == .repeated || $0.status == .signUpSent }
    }
}
