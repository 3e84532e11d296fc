// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
public import Envelope

/// A profile with the signature under which it came.
public struct SignedProfile: Sendable {
    /// `typ` of the JWS header.
    public static let type = "nfc-tap-profile+jws"

    public let profile: Profile
    /// JWS in compact form.
    public let token: String
    /// SHA-256 of the payload: signing the same profile again gives another token.
    let digest: [UInt8]

    /// Verifies and reads; the period is not checked.
    public init(token: String, key: VerificationKey) throws(ProfileError) {
        let payload: [UInt8]
        do throws(JWSError) { payload = try JWS.verify(token, with: key, type: SignedProfile.type) } catch {
            throw .untrusted(error)
        }
        profile = try Profile(json: payload)
        digest = Array(SHA256.hash(data: payload))
        self.token = token
    }

    /// Whether this one may take the place of `current`: never an older one.
    ///
    /// - Returns: `false` where it is the same profile.
    public func replaces(_ current: SignedProfile) throws(ProfileError) -> Bool {
        guard profile.serial >= current.profile.serial else {
            throw .older(profile.serial, than: current.profile.serial)
        }
        guard profile.serial == current.profile.serial else { return true }
        guard digest == current.digest else { throw .sameSerial(profile.serial) }
        return false
    }
}
