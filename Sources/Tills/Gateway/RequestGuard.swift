// SPDX-License-Identifier: Apache-2.0
package import LocalHTTP
import PaymentValues

/// Who is let in, by the head of a request alone, in a fixed order: each check before the next, and none looks at the body.
package struct RequestGuard: Sendable {
    /// What is asked at the door.
    package struct Head: Sendable {
        package var method: HTTPMethod
        package var path: [String]
        package var query: [HTTPRequest.QueryItem]
        package var fields: HTTPFields

        package init(
            _ method: HTTPMethod, _ path: [String], query: [HTTPRequest.QueryItem] = [], fields: HTTPFields
        ) {
            (self.method, self.path, self.query, self.fields) = (method, path, query, fields)
        }
    }

    /// Where a request goes that passed.
    enum Passage: Equatable {
        /// A browser asks whether its page may ask.
        case preflight
        case page
        /// The same page by the address that the others use.
        case redirect(String)
        case pairing
        case call(TillCall, Till, TillToken)
    }

    struct Refusal: Error, Equatable {
        var code: ErrorCode
        /// The header or parameter it is about.
        var field: String?
        var allowedMethods: [String] = []
        /// Whose token it would have been.
        var till: String?
        /// After which to ask again.
        var seconds: Int?

        init(_ code: ErrorCode, field: String? = nil) { (self.code, self.field) = (code, field) }

        var body: ErrorBody {
            var body = ErrorBody(code, field: field)
            body.allowedMethods = allowedMethods
            return body
        }
    }

    /// What `Host` may say, in lower case.
    let hosts: Set<String>
    /// Origins of the gateway's own pages.
    let ownOrigins: Set<String>
    /// Origins of others' pages.
    let origins: Set<String>

    /// - Parameters:
    ///   - addresses: where the gateway listens: `127.0.0.1:8716`.
    ///   - names: of a reverse proxy.
    package init(addresses: [String], names: Set<String> = [], origins: Set<String> = []) {
        let ports = Set(addresses.compactMap { $0.split(separator: ":").last.map(String.init) })
        let own = ports.flatMap { port in ["127.0.0.1", "localhost", "[::1]"].map { "\($0):\(port)" } }
        hosts = Set(own + addresses).union(names)
        // What a proxy serves comes with TLS: nothing else is offered beyond this machine.
        ownOrigins = Set((own + addresses).map { "http://\($0)" } + names.map { "https://\($0)" })
        self.origins = origins
    }

    /// The origin of the page that asks, where it may; it gets to read the answer, whatever that is.
    func sharedOrigin(_ head: Head) -> String? {
        guard let origin = head.fields.only("Origin"), origins.contains(origin) || ownOrigins.contains(origin) else {
            return nil
        }
        return origin
    }

    func admit(_ head: Head, _ book: TillRegistry, at now: Timestamp) throws(Refusal) -> Passage {
        try checkHost(head)
        try checkOrigin(head)
        if head.method == .options { return .preflight }
        if head.path.first != "v1" { return try page(head) }
        let call = try TillCall(head)
        try checkContentType(head)
        if head.fields.contains("NFC-Tap-On-Behalf-Of") || head.fields.contains("NFC-Tap-Roles") {
            throw Refusal(.requestInvalidParameter, field: "NFC-Tap-On-Behalf-Of")
        }
        guard let call else { return .pairing }
        let (till, token) = try checkToken(head, book, at: now)
        try call.checkRights(of: till, head)
        return .call(call, till, token)
    }

    /// Rebinding brings a stranger's page here under the stranger's name: names that are not ours go no further.
    private func checkHost(_ head: Head) throws(Refusal) {
        guard let host = head.fields.only("Host"), !host.isEmpty else {
            throw Refusal(.requestMalformed, field: "Host")
        }
        guard hosts.contains(Self.lowercased(host)) else { throw Refusal(.hostRefused, field: "Host") }
    }

    private func checkOrigin(_ head: Head) throws(Refusal) {
        if head.fields.contains("Origin") {
            guard sharedOrigin(head) != nil else { throw Refusal(.originRefused, field: "Origin") }
            return
        }
        let sites = head.fields.all("Sec-Fetch-Site")
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            throw Refusal(.originRefused, field: "Sec-Fetch-Site")
        }
    }

    private func page(_ head: Head) throws(Refusal) -> Passage {
        guard head.method == .get else {
            var refusal = Refusal(.requestMethodNotAllowed)
            refusal.allowedMethods = ["GET"]
            throw refusal
        }
        // What a page keeps, it keeps under one of its addresses.
        if let host = head.fields.only("Host").map(Self.lowercased), host.hasPrefix("localhost:") {
            let path = head.path.map { HTTPClientRequest.percentEncoded($0) }.joined(separator: "/")
            return .redirect("http://127.0.0.1:\(host.dropFirst("localhost:".count))/\(path)")
        }
        return .page
    }

    /// What a form of any page can send is refused here, whatever it is.
    private func checkContentType(_ head: Head) throws(Refusal) {
        guard head.method == .post else { return }
        let types = head.fields.all("Content-Type")
        if types.isEmpty, head.fields.only("Content-Length") ?? "0" == "0" { return }
        guard types.count == 1, let type = types[0].split(separator: ";").first,
            type.filter({ $0 != " " }).lowercased() == "application/json"
        else { throw Refusal(.requestNotJSON, field: "Content-Type") }
    }

    private func checkToken(
        _ head: Head, _ book: TillRegistry, at now: Timestamp
    ) throws(Refusal) -> (Till, TillToken) {
        let words = head.fields.only("Authorization")?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        let token = words.count == 2 && words[0].lowercased() == "bearer" ? TillToken(String(words[1])) : nil
        let till = book.owner(of: token, at: now)
        guard let till, let token, speaks(till, from: head) else {
            var refusal = Refusal(.tokenUnknown)
            refusal.till = token.flatMap { book.tills[$0.till]?.till }
            throw refusal
        }
        return (till, token)
    }

    private func speaks(_ till: Till, from head: Head) -> Bool {
        guard let origin = head.fields.only("Origin") else { return true }
        return ownOrigins.contains(origin) || till.origins.contains(origin)
    }

    /// ASCII only: no other letter is a name's.
    private static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
