// SPDX-License-Identifier: Apache-2.0
import Envelope
import POSAPI
import PaymentValues
import Profile

/// A profile, and by which right it is in force.
struct ProfileInForce: Sendable {
    let profile: Profile
    /// `nil` for a file that nobody signed.
    let signed: SignedProfile?

    init(_ signed: SignedProfile) {
        profile = signed.profile
        self.signed = signed
    }

    init(unsigned profile: Profile) {
        self.profile = profile
        signed = nil
    }

    /// What `GET /v1/status` tells of it.
    var status: ProfileStatus {
        ProfileStatus(
            serial: profile.serial, serviceName: profile.serviceName, merchant: profile.merchant.id,
            displayName: profile.merchant.displayName, onBehalfOf: profile.merchant.onBehalfOf,
            issuedAt: profile.issuedAt, expiresAt: profile.expiresAt,
            signed: signed != nil, deprecatedFrom: profile.software.deprecatedFrom)
    }
}

extension Merchant {
    /// As receipts name it.
    init(_ merchant: Profile.Merchant) {
        self.init(
            displayName: merchant.displayName, statementDescriptor: merchant.statementDescriptor,
            address: merchant.addressLines.isEmpty ? nil : merchant.addressLines, onBehalfOf: merchant.onBehalfOf)
    }
}

extension RefusedKey {
    init(_ refusal: RecipientKeySet.Refusal, of source: Source) {
        self.init(source: source, key: refusal.name, reason: refusal.reason.description)
    }

    /// The whole set.
    init(_ error: RecipientKeyError, of source: Source) {
        self.init(source: source, key: "keys", reason: error.description)
    }
}
