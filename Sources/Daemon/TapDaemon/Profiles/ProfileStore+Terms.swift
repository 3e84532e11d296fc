// SPDX-License-Identifier: Apache-2.0
import Codes
import Configuration
import Envelope
import Glibc
import Journal
import Logging
import POSAPI
import PaymentValues
import Profile
import Synchronization

/// Why terms are not accepted.
enum TermsRefusal: Error, Equatable, Sendable {
    case noSignedTerms
    /// This program, for these terms.
    case versionTooOld
    case revoked
    /// Not the terms in force.
    case otherTerms
    case alreadyAccepted
    case fileTooLong
    case file(ProfileError)
    case journal(JournalError)
}

extension ProfileStore {
    /// What `GET /v1/terms` answers.
    var terms: Terms {
        state.withLock { state in
            var answer = Terms(state: terms(state))
            guard let inForce = state.inForce, let settings else { return answer }
            let profile = inForce.profile
            answer.merchant = profile.merchant.id
            answer.displayName = profile.merchant.displayName
            answer.version = profile.terms.version
            answer.text = profile.terms.text
            answer.page = profile.terms.page
            answer.hash = profile.terms.hash
            answer.key = inForce.signed == nil ? nil : settings.key.thumbprint
            answer.acceptance = state.acceptance
            return answer
        }
    }

    /// Where an administrator can accept the terms on any device, as long as they have to be accepted.
    var termsPage: String? {
        state.withLock { terms($0) == .notAccepted ? $0.inForce?.profile.terms.page : nil }
    }

    /// Accepts the terms in force, once for the merchant: for every lane, reader and installation state of it.
    ///
    /// - Parameter name: of the user who asks.
    func accept(
        _ request: TermsAcceptanceRequest, uid: UInt32, name: String
    ) async throws(TermsRefusal) -> TermsAcceptance {
        let (inForce, isAccepted) = state.withLock { ($0.inForce, $0.acceptance != nil) }
        guard let settings, let inForce, inForce.signed != nil else { throw .noSignedTerms }
        let profile = inForce.profile
        // The version comes first: nobody is to accept terms for what cannot be used.
        if let minimum = profile.software.minimum, let own = SoftwareVersion(Version.text), own < minimum {
            throw .versionTooOld
        }
        guard !profile.terms.isRevoked else { throw .revoked }
        let acceptance: TermsAcceptance
        switch request.content {
        case .hash(let hash):
            guard hash == profile.terms.hash else { throw .otherTerms }
            acceptance = TermsAcceptance(
                merchant: profile.merchant.id, version: profile.terms.version, hash: profile.terms.hash,
                key: settings.key.thumbprint, acceptedAt: now(), acceptedBy: name, uid: uid, source: .local)
        case .file(let token):
            acceptance = try acceptanceFile(token, settings.key, profile, broughtBy: uid)
        }
        guard !isAccepted else { throw .alreadyAccepted }
        let isNew: Bool
        do throws(JournalError) { isNew = try await writeDown(acceptance) } catch { throw .journal(error) }
        guard isNew else { throw .alreadyAccepted }
        let changed = state.withLock { state -> Status.Terms? in
            // The terms may be others by now.
            guard state.inForce?.profile.terms.hash == acceptance.hash,
                state.inForce?.profile.merchant.id == acceptance.merchant
            else { return nil }
            state.acceptance = acceptance
            return terms(state)
        }
        if let changed { publishTerms(changed) }
        return acceptance
    }

    /// The acceptance of a profile's terms, where there is one: it was written down before, or has come with the profile.
    func acceptance(of inForce: ProfileInForce) async throws(JournalError) -> TermsAcceptance? {
        guard let settings else { return nil }
        let profile = inForce.profile
        let known = try await journal.acceptance(
            merchant: profile.merchant.id, hash: profile.terms.hash, key: settings.key.thumbprint)
        // One of a text before this one is no reason to refuse the profile: it accepts nothing.
        guard known == nil, inForce.signed != nil, !profile.terms.isRevoked, let token = profile.terms.acceptance,
            let come = try? acceptanceFile(token, settings.key, profile, broughtBy: getuid())
        else { return known }
        _ = try await writeDown(come)
        return come
    }

    /// - Returns: `false` where the same has been written down before.
    private func writeDown(_ acceptance: TermsAcceptance) async throws(JournalError) -> Bool {
        let isNew = try await journal.accept(acceptance)
        if isNew {
            logger.notice(
                "terms accepted",
                metadata: [
                    "merchant": "\(acceptance.merchant)", "version": "\(acceptance.version)",
                    "uid": "\(acceptance.uid)",
                ])
        }
        return isNew
    }

    /// - Parameter uid: of whoever brings it; the daemon's own where it has come with the profile.
    private func acceptanceFile(
        _ token: String, _ key: VerificationKey, _ profile: Profile, broughtBy uid: UInt32
    ) throws(TermsRefusal) -> TermsAcceptance {
        guard token.utf8.count <= Limits.acceptanceFileLength else {
            throw .fileTooLong
        }
        do throws(ProfileError) {
            let file = try AcceptanceFile(token: token, key: key, for: profile)
            return TermsAcceptance(
                merchant: profile.merchant.id, version: profile.terms.version, hash: profile.terms.hash,
                key: key.thumbprint, acceptedAt: file.acceptedAt, acceptedBy: file.acceptedBy, uid: uid, source: .file)
        } catch {
            logger.warning("acceptance file refused", metadata: ["reason": "\(error)"])
            throw .file(error)
        }
    }
}
