// SPDX-License-Identifier: Apache-2.0
import Codes
import Configuration
import EMV
import Envelope
import Journal
import Logging
import POSAPI
import PaymentValues
import Profile
import Synchronization
import TerminalFile

/// The payment service's profile that is in force, the terms in it, and the keys that card data is sealed to. What it
/// says has been written down before.
final class ProfileStore: Sendable {
    struct State {
        var inForce: ProfileInForce?
        /// Of the terms in force.
        var acceptance: TermsAcceptance?
        /// Why the latest profile is not used.
        var failure: ProfileError?
        /// What the adapter offers, in its order of preference. Nobody signed it.
        var offered: RecipientKeySet?
        /// Of what it offers, and is not used.
        var refusedOffers: [RefusedKey] = []
        /// What was said last of the key that card data is sealed to, and of those that it is not.
        var said: (recipient: RecipientKey?, refused: [RefusedKey]) = (nil, [])
        /// No profile with a lower serial comes into force any more.
        var floor: UInt64 = 0
        /// Happens when the refresh that is running has its end.
        var running: OneShot?
        var latest = ProfileRefresh.unchanged
    }

    let configured: CurrentSettings
    let journal: JournalThread
    let events: EventHub
    let trail: AuditTrail
    let clock: ClockWatch
    let logger: Logger
    let state = Mutex(State())
    /// Called when a profile has come into force.
    private let applied = Mutex<(@Sendable () -> Void)?>(nil)

    init(
        _ configured: CurrentSettings, journal: JournalThread, events: EventHub, trail: AuditTrail, clock: ClockWatch
    ) {
        self.configured = configured
        self.clock = clock
        (self.journal, self.events) = (journal, events)
        (self.trail, logger) = (trail, trail.logger)
    }

    /// `nil` where no profile is wanted. Key and file are those of the start: another key is another payment service.
    var settings: ProfileSettings? { configured.snapshot.profile }
    private var mode: Mode { configured.snapshot.mode }

    func now() -> Timestamp { configured.snapshot.surroundings.clock() }

    /// In force now.
    var current: Profile? { state.withLock { $0.inForce?.profile } }

    /// The terminal for a transaction that begins now; it keeps it to its end, whatever comes into force meanwhile.
    func currentTerminal() -> Terminal {
        let (inForce, offered) = state.withLock { ($0.inForce, $0.offered) }
        let settings = configured.snapshot
        // As the configuration has it, for what no profile says.
        var terminal = settings.terminal
        if let profile = inForce?.profile {
            terminal.file = profile.terminal
            terminal.merchant = profile.merchant.id
            terminal.country = profile.merchant.country
        }
        if let recipient = recipient(inForce?.profile, offered, settings) { terminal.recipient = recipient }
        return terminal
    }

    /// Names of the networks whose cards are taken now, in the profile's order, else in that of the terminal's applications.
    var networks: [String] {
        if let declared = current?.acceptedNetworks { return declared }
        return currentTerminal().file.configuration.combinations.map { PaymentNetwork.name(of: $0.aid) }.reduce(into: []
        ) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    /// Keys of the payment service that card data is not sealed to, and why.
    var refusedKeys: [RefusedKey] { state.withLock { refusedKeys($0) } }

    private func refusedKeys(_ state: State) -> [RefusedKey] {
        let signed = state.inForce?.profile.recipientKeys.refusals ?? []
        return signed.map { RefusedKey($0, of: .profile) } + state.refusedOffers
    }

    /// Says what card data is sealed to from now on, and which keys are passed over; what was said already is not said again.
    func sayKeys() {
        let settings = configured.snapshot
        let (recipient, refused) = state.withLock { state -> (RecipientKey?, [RefusedKey]) in
            // What test mode falls back on, live mode takes no payment with.
            let fallback = settings.mode == .test ? settings.terminal.recipient : nil
            let recipient = self.recipient(state.inForce?.profile, state.offered, settings) ?? fallback
            let refused = refusedKeys(state)
            defer { state.said = (recipient, refused) }
            return (
                recipient == state.said.recipient ? nil : recipient, refused.filter { !state.said.refused.contains($0) }
            )
        }
        for key in refused {
            logger.warning(
                "recipient key not used",
                metadata: ["of": "\(key.source.rawValue)", "key": "\(key.key)", "reason": "\(key.reason)"])
        }
        guard let recipient else { return }
        let name: Logger.Metadata = ["key": "\(recipient.keyID.debugDescription)"]
        if recipient.isTest {
            logger.warning(
                "published test key in use: nothing that is read is protected, test cards only", metadata: name)
        } else {
            logger.info("card data is sealed to the payment service's key", metadata: name)
        }
    }

    /// Pinned before signed before offered. With a profile in force the adapter may choose among the keys in it and
    /// cannot bring others: whoever took its socket over would read every card.
    private func recipient(
        _ profile: Profile?, _ offered: RecipientKeySet?, _ settings: ConfigurationSnapshot
    ) -> RecipientKey? {
        if let pinned = settings.configuration.file.adapter.recipient { return pinned }
        let seconds = UInt64(max(0, now().milliseconds / 1_000))
        guard let profile else { return settings.mode == .test ? try? offered?.key(at: seconds) : nil }
        let chosen = profile.recipientKeys.keys.filter { offered?.keys.contains($0) ?? true }
        return (try? RecipientKeySet(keys: chosen).key(at: seconds)) ?? (try? profile.recipientKeys.key(at: seconds))
    }

    /// What keeps every payment from being taken; `nil` in test mode.
    func refusal() -> ErrorDetail? { obstacle().map { ErrorDetail(of: $0) } }

    private func obstacle() -> LiveObstacle? {
        let configuration = configured.snapshot.configuration.file
        guard configuration.mode == .live else { return nil }
        guard let settings = configuration.profile else { return .noProfile }
        let isClockBelieved = clock.doubt == nil
        let gate = state.withLock {
            LiveGate(
                version: Version.text, key: settings.key, acknowledgement: settings.acknowledgement,
                inForce: $0.inForce, isAccepted: $0.acceptance != nil, failure: $0.failure,
                recipient: configuration.adapter.recipient, isClockBelieved: isClockBelieved)
        }
        return gate.obstacle(at: now())
    }

    /// Why this currency is not taken; `nil` where it is.
    func refusal(of currency: Currency) -> ErrorCode? {
        if let profile = current, !profile.currencies.contains(currency) { return .amountCurrencyNotAccepted }
        // Limits are minor units of one currency: 12.500 KWD is not more than 50.00 EUR.
        let own = currentTerminal().file.currency
        return own.map { $0.letters == currency.code } ?? true ? nil : .amountCurrencyNotAccepted
    }

    /// What `GET /v1/status` tells.
    var status: (terms: Status.Terms, profile: ProfileStatus?, error: ErrorDetail?) {
        state.withLock { (terms($0), $0.inForce?.status, $0.failure.map { ErrorDetail(of: $0) }) }
    }

    func terms(_ state: State) -> Status.Terms {
        if state.inForce?.profile.terms.isRevoked == true { return .revoked }
        if state.acceptance != nil { return .accepted }
        return mode == .live ? .notAccepted : .notRequired
    }

    /// Takes up what an earlier run left: the profile is verified again, as if it had just come.
    func restore() async throws(JournalError) {
        guard let settings else { return }
        if let file = settings.file {
            state.withLock { $0.inForce = ProfileInForce(unsigned: file) }
            return sayKeys()
        }
        guard let known = try await journal.profile(signedBy: settings.key.thumbprint) else { return }
        state.withLock { $0.floor = known.serial }
        let inForce: ProfileInForce
        do throws(ProfileError) {
            inForce = ProfileInForce(try SignedProfile(token: known.token, key: settings.key))
        } catch {
            return await note(error)
        }
        let acceptance = try await self.acceptance(of: inForce)
        clock.noteProfile(issuedAt: inForce.profile.issuedAt)
        state.withLock { ($0.inForce, $0.acceptance) = (inForce, acceptance) }
    }

    /// Notes why a profile is not used, and says so where that is news.
    func note(_ error: ProfileError) async {
        let detail = ErrorDetail(of: error)
        let (isNews, kept) = state.withLock { state in
            defer { state.failure = error }
            return (state.failure != error, state.inForce?.profile.serial)
        }
        guard isNews else { return }
        logger.error("profile refused", metadata: ["reason": "\(error)", "remedy": "\(error.remedy)"])
        let remains = kept.map { "serial \($0) stays in force" } ?? "none is in force"
        await trail.note(
            AuditEntry(.profile, subject: detail.field ?? "", detail: "refused with \(detail.code); \(remains)"))
        var event = Event(.profileRefused)
        event.error = detail
        publish(event)
    }

    /// Calls `body` whenever a profile has come into force.
    func onApplied(_ body: @escaping @Sendable () -> Void) { applied.withLock { $0 = body } }

    func noteApplied(_ profile: Profile) {
        clock.noteProfile(issuedAt: profile.issuedAt)
        applied.withLock { $0 }?()
    }

    func publish(_ event: Event) {
        var event = event
        event.mode = mode
        events.publish(event)
    }
}
