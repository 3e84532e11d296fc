// SPDX-License-Identifier: Apache-2.0
import Codes
import Configuration
import Envelope
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
            answer.hash = profile.terms.hash
            answer.key = inForce.signed == nil ? nil : settings.key.thumbprint
            answer.acceptance = state.acceptance
            return answer
        }
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
        var acceptance = TermsAcceptance(
            merchant: profile.merchant.id, version: profile.terms.version, hash: profile.terms.hash,
            key: settings.key.thumbprint, acceptedAt: now(), acceptedBy: name, uid: uid, source: .local)
        switch request.content {
        case .hash(let hash):
            guard hash == profile.terms.hash else { throw .otherTerms }
        case .file(let token):
            let file = try acceptanceFile(token, settings.key, profile)
            (acceptance.acceptedBy, acceptance.acceptedAt) = (file.acceptedBy, file.acceptedAt)
            acceptance.source = .file
        }
        guard !isAccepted else { throw .alreadyAccepted }
        guard try await writeDown(acceptance) else { throw .alreadyAccepted }
        let changed = state.withLock { state -> Status.Terms? in
            // The terms may be others by now.
            guard state.inForce?.profile.terms.hash == acceptance.hash,
                state.inForce?.profile.merchant.id == acceptance.merchant
            else { return nil }
            state.acceptance = acceptance
            return terms(state)
        }
        logger.notice(
            "terms accepted",
            metadata: ["merchant": "\(acceptance.merchant)", "version": "\(acceptance.version)", "uid": "\(uid)"])
        if let changed { publishTerms(changed) }
        return acceptance
    }

    /// - Returns: `false` where the same has been written down before.
    private func writeDown(_ acceptance: TermsAcceptance) async throws(TermsRefusal) -> Bool {
        do throws(JournalError) { return try await journal.accept(acceptance) } catch {
            throw .journal(error)
        }
    }

    private func acceptanceFile(
        _ token: String, _ key: VerificationKey, _ profile: Profile
    ) throws(TermsRefusal) -> AcceptanceFile {
        guard token.utf8.count <= Limits.acceptanceFileLength else {
            throw .fileTooLong
        }
        do throws(ProfileError) { return try AcceptanceFile(token: token, key: key, for: profile) } catch {
            logger.warning("acceptance file refused", metadata: ["reason": "\(error)"])
            throw .file(error)
        }
    }
}
