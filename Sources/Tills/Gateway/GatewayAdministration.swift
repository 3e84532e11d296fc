// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocalHTTP
import Logging
package import PaymentValues
import Synchronization

/// What an administrator's commands ask the running gateway, over a Unix socket that root and the gateway's own user open.
package enum GatewayAdministration {
    /// A code to be typed at a till.
    package struct Code: Codable, Sendable {
        package var code: String
        package var till: String
        /// The page that takes it, with the code behind `#`, where no server and no log sees it.
        package var address: String
    }

    /// A till without what proves it.
    package struct Listed: Codable, Sendable {
        package var till: String
        package var roles: [TillRole]
        package var lanes: [String]
        package var types: [TransactionType]
        package var origins: [String]
        package var createdAt: Timestamp
        package var lastUsedOn: String?
        package var revokedAt: Timestamp?

        init(_ till: Till) {
            self.till = till.till
            (roles, lanes, types, origins) = (till.roles, till.lanes, till.types, till.origins)
            (createdAt, lastUsedOn, revokedAt) = (till.createdAt, till.lastUsedOn, till.revokedAt)
        }
    }

    /// What is wrong with what was asked, for the person at the shell.
    package struct Fault: Error, Codable, Sendable, CustomStringConvertible {
        package var fault: String

        package var description: String { fault }

        init(_ fault: String) { self.fault = fault }
    }

    static func standing(_ peer: PeerCredentials) -> PeerStanding {
        peer.userID == 0 || peer.userID == geteuid() ? .administering : .none
    }
}

extension Gateway {
    func administer(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(GatewayAdministration.Fault) {
            switch (request.method, request.path.first, request.path.count) {
            case (.post, "pairings", 1): return try await openPairing(request)
            case (.get, "tills", 1):
                let tills = state.withLock { $0.book }.all.map(GatewayAdministration.Listed.init)
                return Self.message(200, tills, request.fields)
            case (.delete, "tills", 2):
                try await revoke(request.path[1])
                return HTTPResponse(status: 204)
            case (.post, "tills", 3) where request.path[2] == "rotation":
                try change(request.path[1]) { book, name in book.rotate(name) }
                return HTTPResponse(status: 204)
            default:
                throw GatewayAdministration.Fault("this gateway knows no such command: start it anew after an upgrade")
            }
        } catch {
            return Self.message(422, error, request.fields)
        }
    }

    private func openPairing(_ request: HTTPRequest) async throws(GatewayAdministration.Fault) -> HTTPResponse {
        guard var draft = try? WireJSON.decode(TillDraft.self, from: request.body) else {
            throw GatewayAdministration.Fault("the options cannot be read: name roles and types as the help does")
        }
        if draft.till.isEmpty {
            draft.till = state.withLock { $0.book.freeName(draft.kind, besides: $0.desk.promised(at: .now)) }
        }
        if draft.lanes.isEmpty { draft.lanes = try await onlyLane() }
        if let fault = draft.fault(allowedOrigins: door.origins) {
            throw GatewayAdministration.Fault("--\(fault.option): \(fault.remedy)")
        }
        if let fault = missingPage(of: draft) { throw fault }
        let code = state.withLock { state -> String? in
            guard state.book.mayPair(draft.till) else { return nil }
            var generator = SystemRandomNumberGenerator()
            return state.desk.offer(draft, at: .now, using: &generator)
        }
        guard let code else {
            throw GatewayAdministration.Fault(
                "--till: \(draft.till) was revoked, and its name is not used again; choose another")
        }
        let address = "\(home)/\(draft.kind)/#code=\(code)"
        return Self.message(
            201, GatewayAdministration.Code(code: code, till: draft.till, address: address), request.fields)
    }

    /// An address that opens nothing is not told. Whoever names other pages has no need of these.
    private func missingPage(of draft: TillDraft) -> GatewayAdministration.Fault? {
        guard draft.origins.isEmpty, !pages.has(draft.kind) else { return nil }
        return GatewayAdministration.Fault(
            "no \(draft.kind).html was in \(pagesFolder) when the gateway started, so /\(draft.kind)/ would open nothing. "
                + "Install the package again, or name the folder with pages in nfc-tap-gateway.toml, and restart "
                + "nfc-tap-gateway. For pages of another server name them with --origin")
    }

    /// The one lane of a shop that has one: nobody has to know its name.
    private func onlyLane() async throws(GatewayAdministration.Fault) -> [String] {
        let names: [String]
        do throws(RequestGuard.Refusal) { names = try await lanes().map(\.name) } catch {
            throw GatewayAdministration.Fault("the daemon does not answer; start it, or name a lane with --lane")
        }
        guard names.count == 1 else {
            throw GatewayAdministration.Fault("--lane: name one of \(names.joined(separator: ", "))")
        }
        return names
    }

    private func revoke(_ name: String) async throws(GatewayAdministration.Fault) {
        try change(name) { book, name in book.revoke(name, at: .now) }
        state.withLock { $0.desk.withdraw(name) }
        fanOut.end(name)
        displays.end(name)
        await upstream.drop(name)
        logger.notice("till revoked", metadata: ["till": "\(name)"])
    }

    private func change(
        _ name: String, _ body: (inout TillRegistry, String) -> Bool
    ) throws(GatewayAdministration.Fault) {
        let isDone: Bool?
        do throws(GatewayError) { isDone = try changeBook { body(&$0, name) ? true : nil } } catch {
            throw GatewayAdministration.Fault("\(error)")
        }
        guard isDone == true else {
            throw GatewayAdministration.Fault("no till is called \(name): see nfc-tap-gateway tills")
        }
    }
}
