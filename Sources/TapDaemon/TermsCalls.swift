import Glibc
import LocalHTTP
import Wire

extension PointOfSaleAPI {
    /// `GET /v1/terms`
    func terms() -> HTTPResponse { .message(200, profiles.terms) }

    /// `POST /v1/terms/acceptance`: an administrator's alone, by the kernel's word.
    func acceptTerms(_ request: HTTPRequest, _ roles: Set<Role>) async throws(ErrorBody) -> HTTPResponse {
        guard roles.contains(.admin) else { throw ErrorBody(.authAdminRequired) }
        let message = try request.message(TermsAcceptanceRequest.self)
        let uid = request.peer.userID
        let acceptance = try await profiles.accept(message, uid: uid, name: Self.name(ofUser: uid))
        return .message(201, acceptance)
    }

    /// Name of a user, or the number where there is none.
    static func name(ofUser uid: UInt32) -> String {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var strings = [CChar](repeating: 0, count: 16 * 1_024)
        guard unsafe getpwuid_r(uid, &entry, &strings, strings.count, &found) == 0, unsafe found != nil,
            let name = unsafe entry.pw_name
        else { return "uid \(uid)" }
        return unsafe String(cString: name)
    }
}
