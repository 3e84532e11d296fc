// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads passes from an iPhone or Apple Watch: SELECT OSE.VAS.01, then GET VAS DATA for each merchant.
///
/// One activation; presenting the phone again is the caller's decision (`LoyaltyRead` makes it).
public struct VASRead: TapMachine, Sendable {
    private enum Phase {
        case idle
        case activating
        case selecting
        /// Index of the merchant that was asked.
        case asking(Int)
        case finished
    }

    private let merchants: [VASMerchant]
    private let terminal: VASTerminal
    private let timestamps: TimestampPolicy?
    private var phase = Phase.idle
    private var outcome: VASOutcome

    /// - Parameters:
    ///   - merchants: in the order in which they are to be asked. The phone's screen names only the first pass.
    ///   - timestamps: `nil` reports the time of an opened pass without judging it.
    public init(merchants: [VASMerchant], terminal: VASTerminal, timestamps: TimestampPolicy? = nil) {
        self.merchants = merchants
        self.terminal = terminal
        self.timestamps = timestamps
        outcome = VASOutcome(
            entries: merchants.map {
                VASOutcome.Entry(passTypeIdentifier: $0.passTypeIdentifier, status: .notAsked)
            })
    }

    public mutating func start(now: TapInstant) -> TapStep<LoyaltySignal, VASOutcome> {
        phase = .activating
        return Step(.activate(fieldOffMilliseconds: 0), signals: [.readyForPass])
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> TapStep<LoyaltySignal, VASOutcome> {
        guard case .activating = phase, let command = try? OSE.select() else { return finish(.cardLost) }
        phase = .selecting
        return Step(.transmit(command), signals: [.reading])
    }

    public mutating func collided(now: TapInstant) -> TapStep<LoyaltySignal, VASOutcome> { finish(.cardLost) }

    public mutating func received(
        _ response: ResponseAPDU, now: TapInstant
    ) -> TapStep<LoyaltySignal, VASOutcome> {
        switch phase {
        case .selecting:
            let application = OSE.application(response)
            switch application {
            case .apple(let selection): return selected(selection)
            case .google, .other, .none:
                outcome.application = application
                return finish(.noPass)
            case .malformed:
                outcome.application = application
                return finish(.unreadable(.malformed))
            }
        case .asking(let index):
            return answered(response, merchant: index, now: now)
        case .idle, .activating, .finished:
            return finish(.cardLost)
        }
    }

    public mutating func cardLost(now: TapInstant) -> TapStep<LoyaltySignal, VASOutcome> { finish(.cardLost) }

    public mutating func stop(now: TapInstant) -> VASOutcome {
        phase = .finished
        return outcome
    }

    /// Enters the session where somebody else has selected OSE.VAS.01 on this activation.
    public mutating func selected(_ selection: VASSelection) -> TapStep<LoyaltySignal, VASOutcome> {
        outcome.application = .apple(selection)
        if let obstacle = selection.obstacle { return finish(obstacle) }
        return ask(0)
    }

    private mutating func ask(_ index: Int) -> TapStep<LoyaltySignal, VASOutcome> {
        guard merchants.indices.contains(index) else { return finish(nil) }
        // The bit for more passes also stands in pass-only sessions, which end after the first pass: a public reader
        // that sets it always is known to work; the rule itself is not published.
        let request = VASRequest(merchants[index], terminal: terminal, more: index + 1 < merchants.count)
        guard let command = try? request.command() else {
            outcome.entries[index].status = .refused(.wrongLength)
            return ask(index + 1)
        }
        phase = .asking(index)
        return Step(.transmit(command))
    }

    private mutating func answered(
        _ response: ResponseAPDU, merchant index: Int, now: TapInstant
    ) -> TapStep<LoyaltySignal, VASOutcome> {
        guard let status = VASStatus(response.status) else {
            outcome.entries[index].status = .unexpectedStatus(response.status)
            return finish(nil)
        }
        if let passStatus = status.passStatus {
            outcome.entries[index].status = passStatus
            return status.allowsNextMerchant ? ask(index + 1) : finish(nil)
        }
        if merchants[index].wantsSignUpOnly {
            outcome.entries[index].status = .signUpSent
            return ask(index + 1)
        }
        guard let answer = VASResponse(response.data), let passData = answer.passData else {
            outcome.entries[index].status = .unreadable(.malformed)
            return finish(nil)
        }
        deliver(passData, token: answer.mobileToken ?? [], merchant: index, now: now)
        // A pass-only session is one pass.
        return terminal.mode == .passOnly ? finish(nil) : ask(index + 1)
    }

    private mutating func deliver(_ passData: [UInt8], token: [UInt8], merchant index: Int, now: TapInstant) {
        guard let cryptogram = VASCryptogram(passData) else {
            outcome.entries[index].status = .unreadable(.tooShort)
            return
        }
        let merchant = merchants[index]
        var content = VASPass.Content.sealed
        outcome.entries[index].status = .delivered
        if !merchant.keys.isEmpty {
            switch cryptogram.open(with: merchant.keys, merchantID: merchant.merchantID) {
            case .success(let pass):
                switch timestamps?.judge(pass.timestamp, now: now) {
                case .fresh, nil: break
                case .tooOld: outcome.entries[index].status = .tooOld
                case .clockOff: outcome.entries[index].status = .clockOff
                }
                content = .opened(pass)
            case .failure(let error):
                // The cryptogram goes along sealed: somebody else may hold the key.
                outcome.entries[index].status = .unreadable(error.defect)
            }
        }
        outcome.entries[index].pass = VASPass(cryptogram: cryptogram, content: content, mobileToken: token)
    }

    /// Ends the session; merchants that were not asked, or not answered for, get `status`.
    private mutating func finish(_ status: PassStatus?) -> TapStep<LoyaltySignal, VASOutcome> {
        if let status {
            let first = if case .asking(let index) = phase { index } else { 0 }
            for index in outcome.entries.indices.dropFirst(first) where outcome.entries[index].status == .notAsked {
                outcome.entries[index].status = status
            }
        }
        phase = .finished
        return Step(.finished(outcome))
    }
}
