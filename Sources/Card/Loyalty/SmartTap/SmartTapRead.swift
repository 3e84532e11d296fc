// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads passes from an Android phone: SELECT OSE.VAS.01, SELECT Smart Tap where needed, NEGOTIATE, GET DATA with its
/// parts, and PUSH where there is something to tell.
///
/// One activation and one collector: the phone refuses others until it has left the field.
public struct SmartTapRead: TapMachine, Sendable {
    enum Phase {
        case idle, activating, selecting, selectingApplication
        case negotiating(Negotiation)
        case getting(SmartTapSessionKeys)
        case pushing
        case finished
    }

    struct Negotiation {
        let handshake: SmartTapHandshake
        let signature: [UInt8]
    }

    let collector: SmartTapCollector
    let terminal: SmartTapTerminal
    let entropy: SmartTapEntropy
    let push: SmartTapPush?
    var phase = Phase.idle
    var outcome = SmartTapOutcome(
        status: .notAsked, objects: [], isAuthentic: false, payment: .sameActivation, isPushed: false)
    var selection: SmartTapSelection?
    var sessionID: [UInt8] = []
    /// Of the message that goes out next.
    var sequence: UInt8 = 1
    var retriesLeft: Int
    /// Parts of an answer that came with 9100.
    var parts: [UInt8] = []
    var partCount = 0

    public init(
        collector: SmartTapCollector, terminal: SmartTapTerminal, entropy: SmartTapEntropy, push: SmartTapPush? = nil
    ) {
        self.collector = collector
        self.terminal = terminal
        self.entropy = entropy
        self.push = push
        retriesLeft = terminal.retries
    }

    public mutating func start(now: TapInstant) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        phase = .activating
        return Step(.activate(fieldOffMilliseconds: 0), signals: [.readyForPass])
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        guard case .activating = phase, let command = try? OSE.select() else { return finish(.cardLost) }
        phase = .selecting
        return Step(.transmit(command), signals: [.reading])
    }

    public mutating func collided(now: TapInstant) -> TapStep<LoyaltySignal, SmartTapOutcome> { finish(.cardLost) }

    public mutating func cardLost(now: TapInstant) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        // A pass that is there stays there, whatever happens to the push.
        if case .pushing = phase { return finish(outcome.status) }
        outcome.payment = .afterRemoval
        return finish(.cardLost)
    }

    public mutating func stop(now: TapInstant) -> SmartTapOutcome {
        phase = .finished
        return outcome
    }

    public mutating func received(
        _ response: ResponseAPDU, now: TapInstant
    ) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        switch phase {
        case .idle, .activating, .finished: finish(.cardLost)
        case .selecting: walletSelected(OSE.application(response))
        case .selectingApplication: applicationSelected(response)
        case .negotiating(let negotiation): negotiated(response, negotiation)
        case .getting(let keys): dataReceived(response, keys)
        case .pushing: pushed(response)
        }
    }

    private mutating func walletSelected(_ application: WalletApplication) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        outcome.application = application
        return switch application {
        case .google(let selection): selected(selection)
        case .apple, .other, .none: finish(.noPass)
        case .malformed: finish(.unreadable(.malformed))
        }
    }

    /// Enters the session where somebody else has selected OSE.VAS.01 on this activation.
    public mutating func selected(_ selection: SmartTapSelection) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        outcome.application = .google(selection)
        self.selection = selection
        if selection.isOtherApplicationOnly { return finish(.noPass) }
        if let versions = selection.versions, !versions.includeOurs { return finish(.unsupportedVersion) }
        if !terminal.alwaysSelects, selection.maySkipSecondSelect, let nonce = selection.deviceNonce {
            return begin(deviceNonce: nonce)
        }
        phase = .selectingApplication
        return send { () throws(APDUError) in try SmartTap.select() }
    }

    private mutating func applicationSelected(_ response: ResponseAPDU) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        let status = SmartTapStatus(response.status)
        if status == .transient, retry() { return send { () throws(APDUError) in try SmartTap.select() } }
        guard status.isSuccess else { return fail(response.status) }
        guard let answer = SmartTapSelectResponse(response.data) else { return finish(.unreadable(.malformed)) }
        guard answer.versions.includeOurs else { return finish(.unsupportedVersion) }
        guard let nonce = answer.deviceNonce ?? selection?.deviceNonce else { return finish(.unreadable(.malformed)) }
        return begin(deviceNonce: nonce)
    }

    private mutating func begin(deviceNonce: [UInt8]) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        guard let secrets = entropy.next(), let key = collector.keys.first else { return finish(.keyMissing) }
        let handshake = SmartTapHandshake(
            secrets: secrets, collectorID: collector.id, keyVersion: key.version, deviceNonce: deviceNonce,
            authentication: terminal.authentication)
        guard let signature = key.sign(handshake.signedData) else { return finish(.keyMissing) }
        sessionID = secrets.sessionID
        return negotiate(Negotiation(handshake: handshake, signature: signature))
    }

    mutating func negotiate(_ negotiation: Negotiation) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        phase = .negotiating(negotiation)
        let session = SmartTapSession(id: sessionID, sequence: sequence)
        return send { () throws(APDUError) in
            try SmartTapRequest.negotiate(
                session, handshake: negotiation.handshake, signature: negotiation.signature)
        }
    }

    private mutating func negotiated(
        _ response: ResponseAPDU, _ negotiation: Negotiation
    ) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        let status = SmartTapStatus(response.status)
        if status == .transient, retry() { return negotiate(negotiation) }
        guard status == .success || status == .successPreSigned else { return fail(response.status) }
        guard let answer = SmartTapResponse(.negotiate, response.data), answer.session.id == sessionID else {
            return finish(.unreadable(.malformed))
        }
        if answer.session.status == SmartTapSession.resend, retry() { return negotiate(negotiation) }
        guard answer.session.status == SmartTapSession.ok else {
            return finish(.unreadable(.badSession(answer.session.status)))
        }
        guard let point = answer.devicePoint, point.count == 33,
            let keys = negotiation.handshake.keys(devicePoint: point, signature: negotiation.signature)
        else { return finish(.unreadable(.invalidPoint)) }
        sequence = answer.session.sequence &+ 1
        retriesLeft = terminal.retries
        return getData(keys)
    }

    mutating func send(
        _ make: () throws(APDUError) -> CommandAPDU
    ) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        guard let command = try? make() else { return finish(.refused(.wrongLength)) }
        return Step(.transmit(command))
    }

    /// Whether a failed message may be sent again; its sequence number is then two higher, as public readers do.
    mutating func retry() -> Bool {
        guard retriesLeft > 0 else { return false }
        retriesLeft -= 1
        sequence &+= 2
        return true
    }

    mutating func fail(_ status: StatusWord) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        let meaning = SmartTapStatus(status)
        outcome.payment = meaning.paymentReadiness
        return finish(meaning.passStatus(status))
    }

    mutating func finish(_ status: PassStatus) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        phase = .finished
        outcome.status = status
        return Step(.finished(outcome))
    }
}
