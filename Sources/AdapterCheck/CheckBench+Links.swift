// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Wire

/// The rules of payment links. Nobody pays one while they are tried.
extension CheckBench {
    private func link(id: TransactionID = TransactionID()) -> LinkRequest {
        LinkRequest(
            id: id, mode: .test, amount: amount, terminal: TestSale.terminal.id,
            expiresAt: Timestamp.now.advanced(bySeconds: Int64(Limits.defaultLinkSeconds)), order: "adapter-check")
    }

    private func send(_ request: LinkRequest) async throws(Complaint) -> Reply<LinkAnswer> {
        try await post("/v1/links", Self.encode(request), key: request.id.text, as: LinkAnswer.self)
    }

    private func close(_ id: TransactionID) async throws(Complaint) -> LinkAnswer {
        let reply = try await delete("/v1/links/\(id.text)", as: LinkAnswer.self)
        guard reply.status == 200, let answer = reply.message, answer.id == id else {
            throw Complaint(
                "DELETE /v1/links/ID was answered with \(reply.status)\(Self.unread(reply)); a daemon asks for ever")
        }
        return answer
    }

    private func opened() async throws(Complaint) -> (request: LinkRequest, url: String) {
        let request = link()
        let reply = try await send(request)
        guard reply.status == 200, let answer = reply.message, answer.id == request.id, answer.state == .open else {
            throw Complaint(
                "a link was answered with \(reply.status)\(Self.unread(reply)) \(reply.message?.state.rawValue ?? "")")
        }
        guard let url = answer.url, url.isCustomerAddress else {
            throw Complaint("an open link needs a url: https, at most 512 visible characters of ASCII")
        }
        return (request, url)
    }

    func checkLink() async throws(Complaint) {
        let (request, url) = try await opened()
        let reply = try await get("/v1/links/\(request.id.text)", as: LinkAnswer.self)
        guard reply.status == 200, let answer = reply.message, answer.id == request.id, answer.state == .open,
            answer.url == url
        else { throw Complaint("GET /v1/links/ID does not tell what the POST was answered: \(reply.status)") }
        _ = try await close(request.id)
    }

    func checkLinkRepeat() async throws(Complaint) {
        let (request, url) = try await opened()
        let reply = try await send(request)
        guard reply.status == 200, reply.message?.id == request.id, reply.message?.url == url else {
            throw Complaint("the link sent again was answered with \(reply.status), or with another address")
        }
        _ = try await close(request.id)
    }

    func checkLinkOtherBody() async throws(Complaint) {
        var (request, _) = try await opened()
        request.order = "another order"
        let status = try await send(request).status
        guard status == 422 else { throw Complaint("another link under the same key was answered with \(status)") }
        _ = try await close(request.id)
    }

    func checkLinkClosed() async throws(Complaint) {
        let (request, _) = try await opened()
        for _ in 0..<2 {
            let answer = try await close(request.id)
            guard answer.state == .cancelled || answer.state == .expired else {
                throw Complaint("a link that nobody has paid was closed, and is \(answer.state.rawValue)")
            }
        }
        let reply = try await get("/v1/links/\(request.id.text)", as: LinkAnswer.self)
        guard let state = reply.message?.state, state == .cancelled || state == .expired else {
            throw Complaint("a link that was closed is \(reply.message?.state.rawValue ?? "\(reply.status)")")
        }
    }

    func checkLinkNeverOpened() async throws(Complaint) {
        let request = link()
        let status = try await get("/v1/links/\(request.id.text)", as: LinkAnswer.self).status
        guard status == 404 else { throw Complaint("a link that never came was answered with \(status)") }
        guard try await close(request.id).state == .cancelled else {
            throw Complaint("a link that was closed before it came is not cancelled")
        }
        let late = try await send(request)
        guard late.message?.state != .open, late.message?.state != .paid else {
            throw Complaint("a link that was closed before it came was opened")
        }
    }
}
