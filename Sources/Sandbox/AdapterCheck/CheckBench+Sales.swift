// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues

/// The rules of sales and reversals. Each makes sales of its own, so that one fault does not show as several.
extension CheckBench {
    /// How often what goes wrong only now and then is tried: behind a proxy every other request may meet the same process.
    private static let rounds = 4

    func demandSame(
        _ answer: AuthorizationAnswer, _ reply: Reply<AuthorizationAnswer>, _ occasion: String
    ) async throws(Complaint) {
        guard reply.status == 200, let second = reply.message else {
            throw Complaint(
                "\(occasion): answered with \(reply.status)\(Self.unread(reply)) instead of the first answer")
        }
        guard second == answer else {
            throw Complaint("\(occasion): another answer\(Self.difference(answer, second))")
        }
    }

    private static func difference(_ first: AuthorizationAnswer, _ second: AuthorizationAnswer) -> String {
        if first.outcome != second.outcome { return ", \(first.outcome.rawValue) and then \(second.outcome.rawValue)" }
        if first.pspReference != second.pspReference || first.approvalCode != second.approvalCode {
            return " with another reference: it may have been booked twice"
        }
        return ""
    }

    /// Not approved, by an answer or by a refusal.
    func demandDeclined(_ request: AuthorizationRequest, at replica: Int = 0) async throws(Complaint) {
        let reply = try await authorize(request, at: replica)
        if let answer = reply.message, answer.outcome != .declined {
            throw Complaint("a sale that had been reversed was answered with \(answer.outcome.rawValue)")
        }
        guard reply.status < 500 else {
            throw Complaint("a sale that had been reversed was answered with \(reply.status)")
        }
    }

    func checkAmount() async throws(Complaint) {
        for factor in 1...3 {
            let (request, answer) = try await approved(times: Int64(factor))
            guard answer.amountApproved.map({ $0 == request.amount }) ?? true else {
                throw Complaint("\(request.amount) was demanded; amountApproved is another amount")
            }
        }
    }

    func checkUnknownMembers() async throws(Complaint) {
        let request = try sale()
        let body = Self.withUnknownMember(try Self.encode(request))
        let reply = try await post("/v1/authorizations", body, key: request.id.text, as: AuthorizationAnswer.self)
        guard reply.status < 400 else {
            throw Complaint("a request with an unknown member was answered with \(reply.status)")
        }
        guard reply.message.map({ $0.outcome != .declined }) ?? true else {
            throw Complaint("a request with an unknown member was declined")
        }
    }

    func checkRepeat() async throws(Complaint) {
        for _ in 0..<Self.rounds {
            let (request, answer) = try await approved()
            for _ in 0..<3 { try await demandSame(answer, try await authorize(request), "sent again") }
        }
    }

    func checkOtherBody() async throws(Complaint) {
        for _ in 0..<Self.rounds {
            var (request, _) = try await approved()
            request.order = "another order"
            let status = try await authorize(request).status
            guard status == 422 else { throw Complaint("another body under the same key was answered with \(status)") }
        }
    }

    /// All who ask get the first answer, or 409 or 202 until it is there; in the end it is one and the same.
    func checkRace(between replicas: [Int]) async throws(Complaint) {
        for _ in 0..<Self.rounds * 3 {
            let request = try sale()
            let replies = await atOnce(request, at: replicas)
            var first: AuthorizationAnswer?
            for reply in replies {
                let reply = try reply.get()
                guard [200, 202, 409].contains(reply.status) else {
                    throw Complaint("one of two at once was answered with \(reply.status)")
                }
                guard let answer = reply.message, answer.outcome != .pending else { continue }
                if let first, first != answer {
                    throw Complaint("two at once: another answer\(Self.difference(first, answer))")
                }
                first = answer
            }
            var final: AuthorizationAnswer?
            for replica in replicas {
                let answer = try await settled(request, at: replica)
                if let known = final ?? first, known != answer {
                    throw Complaint("two at once: another answer in the end\(Self.difference(known, answer))")
                }
                final = answer
            }
        }
    }

    private func atOnce(
        _ request: AuthorizationRequest, at replicas: [Int]
    ) async -> [Result<Reply<AuthorizationAnswer>, Complaint>] {
        await withTaskGroup(
            of: Result<Reply<AuthorizationAnswer>, Complaint>.self,
            returning: [Result<Reply<AuthorizationAnswer>, Complaint>].self
        ) { group in
            for replica in replicas {
                group.addTask {
                    do throws(Complaint) {
                        return .success(try await authorize(request, at: replica))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var replies: [Result<Reply<AuthorizationAnswer>, Complaint>] = []
            for await reply in group { replies.append(reply) }
            return replies
        }
    }

    func checkQuery() async throws(Complaint) {
        for _ in 0..<Self.rounds {
            let (request, answer) = try await approved()
            for _ in 0..<3 { try await demandSame(answer, try await status(of: request.id), "asked by GET") }
        }
    }

    func checkUnknown() async throws(Complaint) {
        let status = try await status(of: TransactionID()).status
        guard status == 404 else { throw Complaint("a sale that never came: answered with \(status)") }
    }

    /// A daemon opens a connection while a card is read, and closes it if nothing comes of it.
    func checkIdleConnections() async throws(Complaint) {
        var idle: [HTTPClientConnection] = []
        do throws(HTTPClientError) {
            for _ in 0..<8 { idle.append(try await clients[0].connect()) }
        } catch {
            throw Complaint("the adapter took \(idle.count) connections, not eight: \(error)")
        }
        let request = try sale()
        do throws(Complaint) {
            _ = try await settled(request)
        } catch {
            throw Complaint("while eight connections were open and silent: \(error.text)")
        }
        guard !idle.isEmpty else { throw Complaint("no connection was opened") }
        idle = []
    }

    func checkReversal() async throws(Complaint) {
        try demandAcknowledged(try await reverse(try await approved().request))
    }

    func checkReversalRepeat() async throws(Complaint) {
        let (request, _) = try await approved()
        for _ in 0..<3 { try demandAcknowledged(try await reverse(request)) }
    }

    func checkReversalBefore() async throws(Complaint) {
        let request = try sale()
        try demandAcknowledged(try await reverse(request))
        try await demandDeclined(request)
    }

    func checkReplicas() async throws(Complaint) {
        for replica in clients.indices.dropFirst() {
            for _ in 0..<Self.rounds {
                let (request, answer) = try await approved()
                try await demandSame(
                    answer, try await status(of: request.id, at: replica), "the other replica, asked by GET")
                try await demandSame(answer, try await authorize(request, at: replica), "the other replica, sent again")
                var other = request
                other.order = "another order"
                let status = try await authorize(other, at: replica).status
                guard status == 422 else {
                    throw Complaint("the other replica answered another body under the same key with \(status)")
                }
                let unwanted = try sale()
                try demandAcknowledged(try await reverse(unwanted))
                try await demandDeclined(unwanted, at: replica)
            }
        }
    }
}
