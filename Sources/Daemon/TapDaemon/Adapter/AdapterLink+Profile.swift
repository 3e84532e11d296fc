// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import LocalHTTP
import PSPAPI

extension AdapterLink {
    /// What the adapter answers to the question for the profile.
    enum ProfileAnswer: Equatable, Sendable {
        /// JWS in compact form.
        case token(String)
        case unavailable(ProfileTrouble)
    }

    func profile() async -> ProfileAnswer {
        do throws(HTTPClientError) {
            let answer = try await client.send(HTTPClientRequest(.get, "/v1/profile"), answerWithin: times.query)
            switch answer.status {
            case 200: return .token(String(decoding: answer.body, as: UTF8.self))
            case 404: return .unavailable(.none)
            default: return .unavailable(.noAnswer)
            }
        } catch {
            return .unavailable(.adapterUnreachable)
        }
    }

    /// The recipient's keys as the adapter offers them; `nil` where it offers none, or does not answer.
    ///
    /// - Throws: why no key of what it offers may be used.
    func recipientKeys() async throws(RecipientKeyError) -> RecipientKeySet? {
        guard let answer = try? await client.send(HTTPClientRequest(.get, "/v1/keys"), answerWithin: times.query),
            answer.status == 200
        else { return nil }
        return try RecipientKeySet(json: answer.body)
    }
}
