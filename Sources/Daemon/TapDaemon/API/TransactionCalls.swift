// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Crypto
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

extension PointOfSaleAPI {
    func create(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        // Whoever may begin nothing at all learns nothing of what is wrong with it.
        if !caller.mayCharge { try caller.roles.require(.cashier, or: .loyalty) }
        let key = PrincipalKey(caller.principal, key: try request.idempotencyKey())
        let seconds = try request.preferredWait()
        let message = try request.message(TransactionRequest.self)
        // Who may charge a stored card need not be a cashier, and a cashier may charge a tab alone.
        if message.type == .charge {
            if !caller.mayCharge { try caller.roles.require(.cashier) }
        } else {
            try caller.roles.require(.cashier, or: message.type == .loyalty ? .loyalty : nil)
        }
        try caller.require(message.type)
        if let charge = message.charge, !caller.mayCharge { try await requireOwnTab(charge, caller) }
        if message.type == .refund { try caller.require(refund: message) }
        let origin = try request.orderOrigin(caller)
        var demand = AdmissionRequest(
            request: message, key: key, requestHash: try await digest(of: message, key), lanes: caller.ceiling?.lanes,
            bytes: request.body.count)
        demand.origin = origin
        if let refusal = await runner.change({ $0.keys.claim(key) }) { return .refusal(refusal) }
        let response: HTTPResponse
        do throws(ErrorBody) {
            if let original = message.of { try await requireOwn(original, caller) }
            try await requireWithinLimit(message, caller)
            response =
                if let original = message.of, message.dryRun == true || !message.asksForCard {
                    try await refund(demand, of: original, seconds, request.connection)
                } else {
                    await admitted(demand, seconds, request.connection)
                }
        } catch {
            response = .refusal(error)
        }
        await runner.change { $0.keys.release(key) }
        return response
    }

    /// What a repetition has to mean, in one fixed form: blanks, the order of members and defaults in words do not matter.
    private func digest(of message: TransactionRequest, _ key: PrincipalKey) async throws(ErrorBody) -> String {
        let (written, meant) = (try message.digest(), try message.meant.digest())
        guard written != meant else { return meant }
        // Until 0.1.0 a request was kept as it was written; one that comes again across an upgrade is known by that.
        do throws(JournalError) {
            let earlier = try await runner.journal.earlier(
                owner: key.owner, idempotencyKey: key.key, requestHash: written)
            if case .repeated = earlier { return written }
            return meant
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    func admitted(
        _ demand: AdmissionRequest, _ seconds: Int, _ connection: HTTPConnection
    ) async -> HTTPResponse {
        switch await admission.admit(demand) {
        case .refused(let refusal):
            return .refusal(refusal)
        case .acceptable(let answer): return .message(200, answer)
        case .created(let transaction):
            await hold(transaction.id, connection)
            guard start(transaction.id) else {
                await runner.take(.notPrepared(.daemonUnavailable), transaction.id)
                return .refusal(ErrorBody(.daemonUnavailable, transaction: transaction.id))
            }
            return await response(201, transaction, waiting: seconds, connection, orOpen: true)
        case .repeated(let transaction):
            await hold(transaction.id, connection)
            return await response(
                201, transaction, waiting: seconds, connection, fields: ["Idempotency-Replayed": "true"], orOpen: true)
        }
    }

    /// Cashiers see transactions of others too, except at a till; passes are personal data.
    func get(_ id: TransactionID, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let seconds = try request.waitParameter()
        var transaction = try await known(id)
        let isOwner = try await isOwner(caller.principal, of: id)
        var maySee = isOwner || caller.seesAll
        if !maySee { maySee = try await isForMachines(transaction, caller) }
        guard maySee else { throw ErrorBody(.sessionNotOwner, transaction: id) }
        transaction.events = events.kept(about: id)
        if isOwner { await hold(id, request.connection) }
        return await response(200, transaction, waiting: seconds, request.connection)
    }

    /// The transaction of a call's path. Whoever is no cashier has to do with reads of passes only, and an unknown one is none.
    func transaction(of call: Route.Call) async throws(ErrorBody) -> TransactionID {
        let id = try call.transaction
        guard !call.caller.roles.contains(.cashier) else { return id }
        let type: TransactionType?
        do throws(JournalError) { type = try await runner.transaction(id)?.type } catch {
            throw ErrorBody(ErrorCode(error))
        }
        guard type == .loyalty else { throw ErrorBody(.authRoleMissing) }
        return id
    }

    /// What became of a request with the caller's own key, for a till that has lost the answer.
    func find(_ key: String, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        // There is one answer at most; programs that are made from the contract name the default all the same.
        _ = try request.number("limit", in: Limits.page)
        let own = try caller.own(key: key)
        let running = await runner.books.keys.holder(of: own)
        let known: KnownRequest?
        do throws(JournalError) {
            known = try await runner.journal.use { (journal) throws(JournalError) in
                try journal.request(owner: own.owner, idempotencyKey: own.key)
            }
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
        switch known {
        case .recorded(let found):
            return .message(200, TransactionList(transactions: [try await self.known(found.id)]))
        case .erased: throw ErrorBody(.transactionErased)
        case .barred(let reason): throw ErrorBody(ErrorCode(reason))
        case nil:
            // Being accepted in this very moment: it is neither recorded nor lost.
            if let running { throw ErrorBody(.idempotencyInProgress, transaction: running) }
            throw ErrorBody(.idempotencyKeyUnknown)
        }
    }

    func cancel(_ id: TransactionID, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        if let answer = try await freed(id, caller) { return .message(200, answer) }
        let transaction = try await owned(id, caller)
        let isOwner = try await isOwner(caller.principal, of: id)
        let answer = try await carryOut("cancel", on: transaction, caller, outcome: \CancelAnswer.summary) {
            () throws(ErrorBody) in
            do throws(JournalError) {
                let answer = try await ClientRequests(runner).cancel(id, by: isOwner ? .client : .administrator)
                guard let answer else { throw JournalError.unknownTransaction }
                return answer
            } catch {
                throw ErrorBody(ErrorCode(error))
            }
        }
        return .message(200, answer)
    }

    /// The transaction as it is once it is settled, the time is over, or the client has gone.
    ///
    /// - Parameter orOpen: or it is a link, and the customer can be shown it.
    private func response(
        _ status: Int, _ transaction: Transaction, waiting seconds: Int, _ connection: HTTPConnection,
        fields: HTTPFields = HTTPFields(), orOpen: Bool = false
    ) async -> HTTPResponse {
        guard seconds > 0 else { return await message(status, transaction, fields) }
        // What was dropped is taken off the disk after the answer, which reads the journal, too.
        await runner.change { $0.expect(transaction.id) }
        let response = await awaited(status, transaction, seconds, connection, fields, orOpen: orOpen)
        await runner.change { $0.answered(transaction.id) }
        return response
    }

    private func awaited(
        _ status: Int, _ transaction: Transaction, _ seconds: Int, _ connection: HTTPConnection, _ fields: HTTPFields,
        orOpen: Bool
    ) async -> HTTPResponse {
        var current = transaction
        let awaitsLink = orOpen && transaction.type == .link
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        if !awaitsLink, let settled = await runner.books.settling(transaction.id) {
            await withTaskGroup { group in
                group.addTask { await settled.wait(atMost: .seconds(seconds)) }
                group.addTask { await connection.closed() }
                await group.next()
                group.cancelAll()
            }
        }
        do throws(JournalError) {
            current = try await runner.transaction(transaction.id) ?? current
            // One that is being forwarded tells nobody of its end: without a look at it now and then whoever waits for
            // it would ask in a circle.
            while !current.state.isSettled, !(awaitsLink && current.link != nil), ContinuousClock.now < end,
                !connection.isClosed, !Task.isCancelled,
                await !runner.books.isStopping
            {
                try? await Task.sleep(for: .milliseconds(100))
                current = try await runner.transaction(transaction.id) ?? current
            }
        } catch {
            return .refusal(ErrorBody(ErrorCode(error), transaction: transaction.id))
        }
        if transaction.events != nil { current.events = events.kept(about: transaction.id) }
        return await message(status, current, fields)
    }

    /// With the passes, as long as they are kept.
    private func message(_ status: Int, _ transaction: Transaction, _ fields: HTTPFields) async -> HTTPResponse {
        guard let kept = await runner.books.passes[transaction.id] else {
            return .message(status, transaction, fields: fields)
        }
        var transaction = transaction
        var secrets = SecretTexts()
        transaction.loyalty = kept.result(&secrets)
        return .message(status, transaction, secrets, fields: fields)
    }

    func known(_ id: TransactionID) async throws(ErrorBody) -> Transaction {
        do throws(JournalError) {
            guard let transaction = try await runner.transaction(id) else { throw JournalError.unknownTransaction }
            return transaction
        } catch {
            throw error == .unknownTransaction ? ErrorBody(.transactionUnknown) : ErrorBody(ErrorCode(error))
        }
    }

    func isOwner(_ principal: Principal, of id: TransactionID) async throws(ErrorBody) -> Bool {
        do throws(JournalError) { return try await runner.owner(of: id) == principal } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    /// A till sees and uses nothing of others' transactions; what nobody knows is another question.
    func requireOwn(_ id: TransactionID, _ caller: Caller) async throws(ErrorBody) {
        guard caller.isTill else { return }
        do throws(JournalError) {
            guard let owner = try await runner.owner(of: id), owner != caller.principal else { return }
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
        throw ErrorBody(.sessionNotOwner, transaction: id)
    }

    /// From now on the connection stands for somebody who cares for the transaction: it is kept open, and its end
    /// cancels what nobody else holds.
    private func hold(_ id: TransactionID, _ connection: HTTPConnection) async {
        // The customer pays elsewhere: nobody's going away cancels it, and a stop does not wait for its end.
        guard await runner.books.live[id]?.transaction.type.isPaidElsewhere != true else { return }
        guard let settled = await runner.books.settling(id) else { return }
        guard await runner.change({ $0.hold(id, by: connection.id) }) else { return }
        connection.hold()
        // A client that uses a connection for each request is away between two of them.
        let patience = settings.snapshot.surroundings.patience
        let end = connection.onClose { [runner, work] in
            work.add {
                guard let signsOfLife = await runner.change({ $0.letGo(id, by: connection.id) }) else { return }
                await settled.wait(atMost: patience)
                guard await runner.books.isAbandoned(id, since: signsOfLife) else { return }
                _ = try? await ClientRequests(runner).cancel(id, by: .disconnect)
            }
        }
        work.add {
            await settled.wait()
            connection.release()
            // A till keeps its connection for days: what is over must not stay with it.
            end.cancel()
        }
    }
}

extension HTTPRequest {
    func idempotencyKey() throws(ErrorBody) -> String {
        guard fields.contains("Idempotency-Key") else { throw ErrorBody(.idempotencyKeyMissing) }
        guard let key = fields.only("Idempotency-Key"), Limits.idempotencyKeyLength.contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw ErrorBody(.idempotencyKeyInvalid) }
        return key
    }

    /// Seconds of `Prefer: wait=N` (RFC 7240 §4.3); 0 where it is not there.
    func preferredWait() throws(ErrorBody) -> Int {
        let preferences = fields.all("Prefer").flatMap { $0.split(separator: ",") }
        for preference in preferences {
            let parts = preference.split(separator: "=", maxSplits: 1).map { $0.trimmed }
            guard parts.first?.lowercased() == "wait" else { continue }
            guard parts.count == 2 else { throw ErrorBody(.requestInvalidParameter, field: "Prefer") }
            return try HTTPRequest.seconds(parts[1], named: "Prefer")
        }
        return 0
    }

    func waitParameter() throws(ErrorBody) -> Int {
        guard let item = query.first(where: { $0.name == "wait" }) else { return 0 }
        return try HTTPRequest.seconds(item.value, named: "wait")
    }

    private static func seconds(_ text: String, named name: String) throws(ErrorBody) -> Int {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let seconds = Int(text), Limits.waitSeconds.contains(seconds) else {
            throw ErrorBody(.requestInvalidParameter, field: name)
        }
        return seconds
    }
}

extension HTTPRequest {
    /// The body, which has to be JSON and say so.
    func message<Message: Decodable>(_ type: Message.Type) throws(ErrorBody) -> Message {
        let kind = fields.only("Content-Type")?.split(separator: ";").first?.trimmed.lowercased()
        guard kind == "application/json" else { throw ErrorBody(.requestNotJSON) }
        guard !body.isEmpty else { throw ErrorBody(.requestBodyMissing) }
        do { return try WireJSON.decode(type, from: body) } catch { throw ErrorBody(error) }
    }
}

extension TransactionRequest {
    /// SHA-256 over the request: blanks and the order of members do not matter.
    fileprivate func digest() throws(ErrorBody) -> String {
        do { return Hex.string(SHA256.hash(data: try WireJSON.encode(self))) } catch { throw ErrorBody(error) }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

extension CancelAnswer {
    /// What came of it, in words of the contract.
    var summary: String {
        outcome.rawValue + (phase.map { ", \($0.rawValue)" } ?? "") + (becomesReversal == true ? ", reversed" : "")
    }
}
