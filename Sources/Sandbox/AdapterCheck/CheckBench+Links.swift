// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues

/// The rules of payment links and of hand-overs to other terminals. Nobody pays one while they are tried.
extension CheckBench {
    /// Where the customer would pay.
    enum Elsewhere: String {
        case link = "/v1/links"
        case handover = "/v1/handovers"

        var name: String { self == .link ? "a link" : "a hand-over" }
    }

    /// The first terminal that the adapter names; each test sale goes to it.
    private func terminal() async throws(Complaint) -> String {
        let names = try await get("/v1/health", as: AdapterHealth.self).message?.terminals ?? []
        guard let name = names.first(where: { $0.isReference(upTo: Limits.terminalNameLength) }) else {
            throw Complaint("supports names handover, and terminals no terminal: 1 to 64 visible characters of ASCII")
        }
        return name
    }

    private func request(_ place: Elsewhere) async throws(Complaint) -> LinkRequest {
        LinkRequest(
            id: TransactionID(), mode: .test, amount: amount, terminal: TestSale.terminal.id,
            expiresAt: Timestamp.now.advanced(bySeconds: Int64(Limits.defaultLinkSeconds)), order: "adapter-check",
            to: place == .handover ? try await terminal() : nil)
    }

    private func send(_ request: LinkRequest) async throws(Complaint) -> Reply<LinkAnswer> {
        let place = request.to == nil ? Elsewhere.link : .handover
        return try await post(place.rawValue, Self.encode(request), key: request.id.text, as: LinkAnswer.self)
    }

    private func look(_ id: TransactionID, _ place: Elsewhere) async throws(Complaint) -> Reply<LinkAnswer> {
        try await get("\(place.rawValue)/\(id.text)", as: LinkAnswer.self)
    }

    @discardableResult
    private func close(_ id: TransactionID, _ place: Elsewhere) async throws(Complaint) -> LinkAnswer {
        let reply = try await delete("\(place.rawValue)/\(id.text)", as: LinkAnswer.self)
        guard reply.status == 200, let answer = reply.message, answer.id == id else {
            throw Complaint(
                "DELETE \(place.rawValue)/ID was answered with \(reply.status)\(Self.unread(reply)); a daemon asks for ever"
            )
        }
        return answer
    }

    private func opened(_ place: Elsewhere) async throws(Complaint) -> (request: LinkRequest, url: String?) {
        let request = try await request(place)
        let reply = try await send(request)
        guard reply.status == 200, let answer = reply.message, answer.id == request.id, answer.state == .open else {
            throw Complaint(
                "\(place.name) was answered with \(reply.status)\(Self.unread(reply)) \(reply.message?.state.rawValue ?? "")"
            )
        }
        guard place == .handover || answer.url?.isCustomerAddress == true else {
            throw Complaint("an open link needs a url: https, at most 512 visible characters of ASCII")
        }
        return (request, answer.url)
    }

    private func checkOpened(_ place: Elsewhere) async throws(Complaint) {
        let (request, url) = try await opened(place)
        let reply = try await look(request.id, place)
        guard reply.status == 200, let answer = reply.message, answer.id == request.id, answer.state == .open,
            answer.url == url
        else { throw Complaint("GET \(place.rawValue)/ID does not tell what the POST was answered: \(reply.status)") }
        try await close(request.id, place)
    }

    func checkLink() async throws(Complaint) { try await checkOpened(.link) }

    func checkHandover() async throws(Complaint) { try await checkOpened(.handover) }

    func checkLinkRepeat() async throws(Complaint) {
        let (request, url) = try await opened(.link)
        let reply = try await send(request)
        guard reply.status == 200, reply.message?.id == request.id, reply.message?.url == url else {
            throw Complaint("the link sent again was answered with \(reply.status), or with another address")
        }
        try await close(request.id, .link)
    }

    func checkLinkOtherBody() async throws(Complaint) {
        var (request, _) = try await opened(.link)
        request.order = "another order"
        let status = try await send(request).status
        guard status == 422 else { throw Complaint("another link under the same key was answered with \(status)") }
        try await close(request.id, .link)
    }

    func checkClosed(_ place: Elsewhere) async throws(Complaint) {
        let (request, _) = try await opened(place)
        for _ in 0..<2 {
            let answer = try await close(request.id, place)
            guard answer.state == .cancelled || answer.state == .expired else {
                throw Complaint("\(place.name) that nobody has paid was closed, and is \(answer.state.rawValue)")
            }
        }
        let reply = try await look(request.id, place)
        guard let state = reply.message?.state, state == .cancelled || state == .expired else {
            throw Complaint("\(place.name) that was closed is \(reply.message?.state.rawValue ?? "\(reply.status)")")
        }
    }

    func checkNeverOpened(_ place: Elsewhere) async throws(Complaint) {
        let request = try await request(place)
        let status = try await look(request.id, place).status
        guard status == 404 else { throw Complaint("\(place.name) that never came was answered with \(status)") }
        guard try await close(request.id, place).state == .cancelled else {
            throw Complaint("\(place.name) that was closed before it came is not cancelled")
        }
        let late = try await send(request)
        guard late.message?.state != .open, late.message?.state != .paid else {
            throw Complaint("\(place.name) that was closed before it came was opened")
        }
    }

    func checkOtherTerminal() async throws(Complaint) {
        var request = try await request(.handover)
        request.to = "adapter-check-\(request.id.text.prefix(8))"
        let status = try await send(request).status
        guard (400...499).contains(status), ![408, 409, 425, 429].contains(status) else {
            _ = try? await close(request.id, .handover)
            throw Complaint(
                "a hand-over to a terminal that there is not was answered with \(status); refuse it with 403")
        }
    }
}
