// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import PaymentValues
import Profile

/// What keeps a live payment from being taken.
enum LiveObstacle: Equatable, Sendable {
    /// No profile is configured, or none has come.
    case noProfile
    /// The profile that came is not used.
    case profile(ProfileError)
    case versionTooOld
    case termsRevoked
    case termsNotAccepted
    /// Everything that has a period is judged by the clock.
    case clockUnbelievable
    case profileExpired
    case notAcknowledged
    /// Keys or a terminal that everybody can test with, and where they stand.
    case test(TestMaterial)
    case recipientKey

    enum TestMaterial: String, Sendable {
        case profileKey = "profile.key"
        case terminal = "terminal.environment"
        case recipientKeys
        case receiptTokenKey
    }
}

/// What has to be right before a live payment. One thing after the other is asked for, in the order in which an
/// administrator can do it: version, terms, configuration.
struct LiveGate {
    let version: String
    let key: VerificationKey
    let acknowledgement: String?
    let inForce: ProfileInForce?
    let isAccepted: Bool
    /// Why the latest profile is not used.
    let failure: ProfileError?
    /// Pinned in the configuration.
    let recipient: RecipientKey?
    var isClockBelieved = true

    /// The first thing that is missing; `nil` where nothing is.
    func obstacle(at now: Timestamp) -> LiveObstacle? {
        guard !key.isTest else { return .test(.profileKey) }
        guard let inForce, inForce.signed != nil else { return failure.map(LiveObstacle.profile) ?? .noProfile }
        let profile = inForce.profile
        if let minimum = profile.software.minimum, let own = SoftwareVersion(version), own < minimum {
            return .versionTooOld
        }
        guard !profile.terms.isRevoked else { return .termsRevoked }
        guard isAccepted else { return .termsNotAccepted }
        guard profile.isLive else { return .test(.terminal) }
        guard isClockBelieved else { return .clockUnbelievable }
        guard now < profile.expiresAt else { return .profileExpired }
        guard acknowledgement == ProfileSettings.acknowledgement(for: profile.merchant.id) else {
            return .notAcknowledged
        }
        return recipientObstacle(profile, now)
    }

    /// Every key of the profile counts, also one that is not the first: the adapter may choose among them.
    private func recipientObstacle(_ profile: Profile, _ now: Timestamp) -> LiveObstacle? {
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
            return .recipientKey
        }
        if used.isTest || profile.recipientKeys.keys.contains(where: \.isTest) { return .test(.recipientKeys) }
        return profile.receiptTokenKey?.isTest == true ? .test(.receiptTokenKey) : nil
    }
}
