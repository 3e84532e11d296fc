// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Profile
import Wire

/// What has to be right before a live payment. One thing after the other is asked for, in the order in which an
/// administrator can do it: version, terms, configuration.
struct LiveGate {
    let version: String
    let key: VerificationKey
    let acknowledgement: String?
    let inForce: ProfileInForce?
    let isAccepted: Bool
    /// Why the latest profile is not used.
    let failure: ErrorDetail?
    /// Pinned in the configuration.
    let recipient: RecipientKey?
    /// Everything that has a period is judged by the clock.
    var isClockBelieved = true

    /// The first thing that is missing; `nil` where nothing is.
    func refusal(at now: Timestamp) -> ErrorDetail? {
        guard !key.isTest else { return ErrorDetail(.liveTestKey, field: "profile.key") }
        guard let inForce, inForce.signed != nil else { return failure ?? ErrorDetail(.credentialMissing) }
        let profile = inForce.profile
        if let minimum = profile.software.minimum, let own = SoftwareVersion(version), own < minimum {
            return ErrorDetail(.readerUnsupported, field: "software.minimum")
        }
        guard !profile.terms.isRevoked else { return ErrorDetail(.termsRevoked) }
        guard isAccepted else { return ErrorDetail(.termsNotAccepted) }
        guard profile.isLive else { return ErrorDetail(.liveTestKey, field: "terminal.environment") }
        guard isClockBelieved else { return ErrorDetail(.clockUnbelievable) }
        guard now < profile.expiresAt else { return ErrorDetail(.credentialExpired) }
        guard acknowledgement == ProfileSettings.acknowledgement(for: profile.merchant.id) else {
            return ErrorDetail(.liveNotAcknowledged, field: "live.acknowledgement")
        }
        return recipientRefusal(profile, now)
    }

    /// Every key of the profile counts, also one that is not the first: the adapter may choose among them.
    private func recipientRefusal(_ profile: Profile, _ now: Timestamp) -> ErrorDetail? {
        let seconds = UInt64(max(0, now.milliseconds / 1_000))
        let used: RecipientKey
        do throws(RecipientKeyError) {
            if let recipient {
                try recipient.checkPeriod(at: seconds)
                used = recipient
            } else {
                used = try profile.recipientKeys.key(at: seconds)
            }
        } catch {
            return ErrorDetail(.envelopeKeyUnusable)
        }
        if used.isTest || profile.recipientKeys.keys.contains(where: \.isTest) {
            return ErrorDetail(.liveTestKey, field: "recipientKeys")
        }
        return profile.receiptTokenKey?.isTest == true ? ErrorDetail(.liveTestKey, field: "receiptTokenKey") : nil
    }
}
