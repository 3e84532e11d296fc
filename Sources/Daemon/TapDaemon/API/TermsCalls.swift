// SPDX-License-Identifier: Apache-2.0
import Journal
import Linux
import LocalHTTP
import POSAPI
import PaymentValues
import Profile

extension PointOfSaleAPI {
    /// `GET /v1/terms`
    func terms() -> HTTPResponse { .message(200, profiles.terms) }

    /// `POST /v1/terms/acceptance`: an administrator's alone, by the kernel's word.
    func acceptTerms(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let message = try request.message(TermsAcceptanceRequest.self)
        let uid = caller.principal.uid
        do throws(TermsRefusal) {
            return .message(201, try await profiles.accept(message, uid: uid, name: Self.name(ofUser: uid)))
        } catch {
            let refusal = ErrorBody(of: error)
            // The acceptance itself is written down together with its entry.
            await trail.note(
                AuditEntry(
                    .terms, subject: profiles.current?.merchant.id ?? "",
                    detail: "not accepted by uid \(uid): \(refusal.error.code)"))
            throw refusal
        }
    }

    /// Name of a user, or the number where there is none.
    static func name(ofUser uid: UInt32) -> String { UserDatabase.name(ofUser: uid) ?? "uid \(uid)" }
}
