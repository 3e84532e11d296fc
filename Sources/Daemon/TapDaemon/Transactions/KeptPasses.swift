// SPDX-License-Identifier: Apache-2.0
import Loyalty
import PaymentValues

/// What the loyalty part of a tap found, kept in memory that is wiped: ordinary memory gets it never, except for the
/// sealed pass of an iPhone, the identifier of an object's issuer and times.
struct KeptPasses: Sendable {
    let outcome: LoyaltyOutcome
    let request: LoyaltyRequest
    let language: String?

    /// Whether a pass was delivered.
    var hasPass: Bool { outcome.hasPass }

    /// Statuses and what the customer should do, without anything that was in a pass.
    var statuses: LoyaltyResult {
        var secrets = SecretTexts()
        return result(&secrets).withoutPasses
    }

    /// Everything, with a mark of `secrets` in the place of each secret.
    func result(_ secrets: inout SecretTexts) -> LoyaltyResult {
        LoyaltyResult(outcome, of: request, language: language, &secrets)
    }
}
