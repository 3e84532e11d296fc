// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Journal
import Logging
import POSAPI
import PaymentValues
import Profile
import Synchronization

extension ProfileStore {
    /// Asks the adapter for the profile and applies it where it is newer and right. A second caller joins the first.
    func refresh() async -> ProfileRefresh {
        guard let settings, settings.file == nil else { return .unchanged }
        let (mine, others) = state.withLock { state -> (OneShot?, OneShot?) in
            if let running = state.running { return (nil, running) }
            let new = OneShot()
            state.running = new
            return (new, nil)
        }
        if let others {
            await others.wait()
            return state.withLock { $0.latest }
        }
        let result = await fetch(settings)
        state.withLock { state in
            state.latest = result
            state.running = nil
        }
        mine?.fire()
        return result
    }

    /// Refreshes for a lane that is being prepared.
    ///
    /// - Returns: what keeps payments from being taken with what is in force then.
    func refreshForLane() async -> ErrorCode? {
        _ = await refresh()
        return refusal().flatMap { ErrorCode(rawValue: $0.code) }
    }

    private func fetch(_ settings: ProfileSettings) async -> ProfileRefresh {
        switch await configured.snapshot.adapter.profile() {
        case .unavailable(let trouble): return .failed(trouble)
        case .token(let token):
            do throws(ProfileError) {
                return try await apply(try SignedProfile(token: token, key: settings.key), settings)
            } catch {
                await note(error)
                return .failed(.refused(error))
            }
        }
    }

    /// Takes a profile over, unless it is older than the one in force, or not valid now.
    private func apply(_ new: SignedProfile, _ settings: ProfileSettings) async throws(ProfileError) -> ProfileRefresh {
        try new.profile.checkPeriod(at: now())
        let (before, floor) = state.withLock { ($0.inForce, $0.floor) }
        if let before = before?.signed, try !new.replaces(before) {
            state.withLock { $0.failure = nil }
            return .unchanged
        }
        guard new.profile.serial >= floor else { throw .older(new.profile.serial, than: floor) }
        let inForce = ProfileInForce(new)
        let profile = new.profile
        let acceptance: TermsAcceptance?
        do throws(JournalError) {
            acceptance = try await self.acceptance(of: inForce)
            try await journal.apply(
                JournalledProfile(
                    serial: profile.serial, merchant: profile.merchant.id, key: settings.key.thumbprint,
                    token: new.token, appliedAt: now()))
        } catch {
            logger.error("profile not written", metadata: ["error": "\(error)"])
            return .failed(.notWritten(error))
        }
        let (earlier, later) = state.withLock { state in
            let earlier = terms(state)
            (state.inForce, state.acceptance, state.failure) = (inForce, acceptance, nil)
            state.floor = profile.serial
            return (earlier, terms(state))
        }
        noteApplied(profile)
        sayKeys()
        logger.info("profile applied", metadata: ["serial": "\(profile.serial)", "expires": "\(profile.expiresAt)"])
        publish(Event(.profileApplied))
        let isOther = before.map { $0.profile.terms.hash != profile.terms.hash } ?? false
        if isOther || earlier != later { publishTerms(later) }
        return .applied
    }

    func publishTerms(_ state: Status.Terms) {
        var event = Event(.termsChanged)
        event.terms = state
        publish(event)
    }

    /// Asks for the keys that card data is to be sealed to.
    func refreshKeys() async {
        let settings = configured.snapshot
        guard settings.configuration.file.adapter.recipient == nil else { return sayKeys() }
        do throws(RecipientKeyError) {
            guard let keys = try await settings.adapter.recipientKeys() else { return sayKeys() }
            let refused = keys.refusals.map { RefusedKey($0, of: .adapter) }
            state.withLock { ($0.offered, $0.refusedOffers) = (keys, refused) }
        } catch {
            // What it offered before stands; nothing that was not signed is added by it.
            state.withLock { $0.refusedOffers = [RefusedKey(error, of: .adapter)] }
        }
        sayKeys()
    }

    /// Asks at once, hourly, in time before the profile expires, and soon again where it came to nothing, until its task
    /// is cancelled.
    func run() async {
        var pause = Duration.seconds(1)
        while !Task.isCancelled {
            await refreshKeys()
            if case .failed = await refresh() {
                pause = min(pause * 2, .seconds(60))
            } else {
                pause = untilNextRefresh()
            }
            do { try await Task.sleep(for: pause) } catch { return }
        }
    }

    /// An hour, or less where a quarter of what is left of the profile's time is less; never below a second. Ten seconds as long as
    /// somebody may accept the terms at the payment service: the answer comes with a profile.
    private func untilNextRefresh() -> Duration {
        if termsPage != nil { return .seconds(10) }
        guard let expiry = current?.expiresAt else { return .seconds(3_600) }
        let left = (expiry.milliseconds - now().milliseconds) / 4
        return .milliseconds(min(3_600_000, max(1_000, left)))
    }
}
