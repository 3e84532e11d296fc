// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import Profile

/// What the configuration says of the payment service's profile.
public struct ProfileSettings: Sendable {
    /// Who must have signed it.
    public var key = VerificationKey.sandboxTest
    /// Instead of asking the adapter: a profile in a file, which nobody has signed. In test mode only.
    public var file: Profile?
    /// What the administrator has written down to take live payments.
    public var acknowledgement: String?

    public init() {}

    /// What has to be written down, word for word, to take live payments for a merchant.
    public static func acknowledgement(for merchant: String) -> String {
        "We may take live cards for merchant \(merchant), and our acquirer agrees to this reader."
    }
}
