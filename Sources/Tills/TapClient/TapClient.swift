// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// A point-of-sale application's way to nfc-tapd.
///
/// ```swift
/// let client = TapClient()
/// let request = TransactionRequest(type: .purchase, amount: Money(value: 1250, currency: euro))
/// let tap = try await client.start(request, idempotencyKey: saleID)
/// let transaction = try await tap.settled()
/// switch transaction.result?.outcome { … }
/// ```
///
/// A value without state: each call opens a connection of its own. Only a transaction that was started keeps one,
/// because the daemon cancels what its client no longer waits for (see ``TapTransaction``).
public struct TapClient: Sendable {
    /// Where the packaged daemon listens.
    public static let defaultPath = "/run/nfc-tap/pos.sock"

    /// How long the daemon may take to answer a call that waits for nothing.
    public var answerTime: Duration = .seconds(10)
    private let client: HTTPClient

    /// Opens nothing yet.
    public init(path: String = TapClient.defaultPath) {
        var client = HTTPClient(path: path)
        // A whole batch, or a hundred transactions with their items, is more than any adapter's answer.
        client.maximumAnswerBytes = 4 << 20
        self.client = client
    }

    /// Of the socket.
    var path: String { client.path }

    /// A client for a daemon that has shown that it is there and speaks this version's language.
    public static func connect(to path: String = TapClient.defaultPath) async throws(TapClientError) -> TapClient {
        let client = TapClient(path: path)
        _ = try await client.status()
        return client
    }

    /// Mode, version, terms, lanes, queue and the link to the payment service.
    public func status() async throws(TapClientError) -> Status {
        try await get("/v1/status")
    }

    /// All lanes with their readers, in the order of the configuration.
    public func lanes() async throws(TapClientError) -> [LaneStatus] {
        try await get("/v1/lanes", as: LaneList.self).lanes
    }

    /// One lane.
    /// - Parameter name: as the configuration has it.
    /// - Throws: `lane.unknown`.
    public func lane(_ name: String) async throws(TapClientError) -> LaneStatus {
        try await get("/v1/lanes/\(HTTPClientRequest.percentEncoded(name))")
    }

    /// Makes a lane ready for a card, or joins the preparation that runs; it goes on when this task is cancelled. The
    /// daemon does it by itself when it is needed: ask in order to know when it is done.
    ///
    /// - Parameters:
    ///   - lane: its name in the configuration.
    ///   - seconds: how long to wait, 0…600; `.configuring` after that.
    public func prepare(_ lane: String, waiting seconds: Int = 0) async throws(TapClientError) -> PrepareAnswer {
        var request = HTTPClientRequest(.post, "/v1/lanes/\(HTTPClientRequest.percentEncoded(lane))/prepare")
        request.fields.set("Prefer", "wait=\(seconds)")
        return try await call(request, answerWithin: answerTime + .seconds(seconds))
    }

    /// Sends commands to a card, for administrators, in test mode and where the configuration allows it. Nothing is repeated.
    ///
    /// - Parameters:
    ///   - commands: short command APDUs in hexadecimal.
    ///   - lane: its name in the configuration.
    ///   - seconds: for the card to be presented, 1…60.
    /// - Throws: `card_commands.not_allowed`, `auth.admin_required`, `reader.busy`, `read.timed_out`.
    public func sendCardCommands(
        _ commands: [String], on lane: String, deadline seconds: Int = Limits.defaultCardCommandDeadlineSeconds
    ) async throws(TapClientError) -> CardCommandsAnswer {
        let request = HTTPClientRequest(
            .post, "/v1/lanes/\(HTTPClientRequest.percentEncoded(lane))/card-commands",
            fields: ["Content-Type": "application/json"],
            body: try Self.encode(CardCommandsRequest(commands, deadline: seconds)))
        return try await call(request, answerWithin: answerTime + .seconds(seconds + Limits.cardCommandSeconds))
    }

    /// The description of the API (OpenAPI 3.1, YAML) that the daemon was built with.
    public func contract() async throws(TapClientError) -> String {
        try await text(HTTPClientRequest(.get, "/v1/openapi.yaml"))
    }

    /// The whole truth about one transaction, with the events about it that are still kept.
    /// - Throws: `transaction.unknown`.
    public func transaction(_ id: TransactionID) async throws(TapClientError) -> Transaction {
        try await get("/v1/transactions/\(id)")
    }

    /// The same, answered once the transaction has come to its end, or after some seconds as it is then.
    ///
    /// - Parameter wait: 0…600 seconds.
    public func transaction(_ id: TransactionID, wait: Int) async throws(TapClientError) -> Transaction {
        try await call(
            HTTPClientRequest(.get, "/v1/transactions/\(id)?wait=\(wait)"), answerWithin: answerTime + .seconds(wait))
    }

    /// What became of a request with this key, for a program that has lost the answer.
    ///
    /// - Throws: `idempotency.key_unknown` where no such request of this user has ever arrived: send it again, with the
    ///   same key.
    public func transaction(idempotencyKey: String) async throws(TapClientError) -> Transaction {
        let key = HTTPClientRequest.percentEncoded(idempotencyKey)
        let found = try await get("/v1/transactions?key=\(key)", as: TransactionList.self).transactions
        guard let transaction = found.first else { throw .unexpected("no transaction") }
        return transaction
    }

    /// The transactions of one order, newest first.
    public func transactions(order: String) async throws(TapClientError) -> [Transaction] {
        let order = HTTPClientRequest.percentEncoded(order)
        return try await get("/v1/transactions?order=\(order)", as: TransactionList.self).transactions
    }

    /// The payment service's terms, and whether they have been accepted.
    public func terms() async throws(TapClientError) -> Terms { try await get("/v1/terms") }

    /// Accepts the terms whose text was read; for administrators.
    ///
    /// - Parameter hash: as ``terms()`` gives it.
    /// - Throws: `auth.admin_required`, `terms.already_accepted`, `terms.other_version` where the terms in force are
    ///   others, `credential.missing` where there are none.
    public func acceptTerms(hash: String) async throws(TapClientError) -> TermsAcceptance {
        try await accept(TermsAcceptanceRequest(.hash(hash)))
    }

    /// Accepts by a file that the payment service has signed; for administrators.
    ///
    /// - Parameter file: its text, a JWS in compact form.
    /// - Throws: `terms.file_invalid`, and as ``acceptTerms(hash:)``.
    public func acceptTerms(file: String) async throws(TapClientError) -> TermsAcceptance {
        try await accept(TermsAcceptanceRequest(.file(file)))
    }

    private func accept(_ request: TermsAcceptanceRequest) async throws(TapClientError) -> TermsAcceptance {
        try await call(
            HTTPClientRequest(
                .post, "/v1/terms/acceptance", fields: ["Content-Type": "application/json"],
                body: try Self.encode(request)))
    }

    /// Starts a transaction; returns once the daemon has written it down, before any card is read.
    ///
    /// A lost answer is asked for again, up to three times, with the same key: the daemon starts one transaction for it.
    ///
    /// - Parameters:
    ///   - request: what to charge, give back or read.
    ///   - idempotencyKey: 1 to 128 visible ASCII characters, one per sale and attempt. The same key with another
    ///     request is refused with `idempotency.key_reused`.
    public func start(
        _ request: TransactionRequest, idempotencyKey: String
    ) async throws(TapClientError) -> TapTransaction {
        let call = HTTPClientRequest(
            .post, "/v1/transactions",
            fields: ["Content-Type": "application/json", "Idempotency-Key": idempotencyKey],
            body: try Self.encode(request))
        var attempt = 1
        // Once an answer was lost, a daemon that cannot be reached says nothing of what it has started.
        var lost: TapClientError?
        while true {
            do throws(TapClientError) {
                return try await begin(call)
            } catch {
                let isOpen = error.code == .noAnswer || error.code == .init(.idempotencyInProgress)
                guard isOpen, attempt < 3 else { throw error.detail == nil ? lost ?? error : error }
                if error.code == .noAnswer { lost = error }
                attempt += 1
                try await Self.pause(.milliseconds(200))
            }
        }
    }

    /// Asks for a transaction to be cancelled. The answer says whether it was in time; `tooLate` is no error.
    @discardableResult
    public func cancel(_ id: TransactionID) async throws(TapClientError) -> CancelAnswer {
        try await call(HTTPClientRequest(.delete, "/v1/transactions/\(id)"))
    }

    /// Cancels what this key has begun, or sees to it that a request with it begins nothing any more. Asking again changes nothing.
    ///
    /// - Parameter key: the `Idempotency-Key` of the start, percent-encoded here.
    /// - Throws: `transaction.erased` where the records of what it has begun are gone, `request.too_often`.
    @discardableResult
    public func cancel(key: String) async throws(TapClientError) -> KeyCancelAnswer {
        try await call(HTTPClientRequest(.delete, "/v1/transactions?key=\(HTTPClientRequest.percentEncoded(key))"))
    }

    /// Confirms an approval that was asked for with `confirmWithin`. Confirming again changes nothing.
    ///
    /// - Throws: `confirmation.too_late` where it is being taken back, `confirmation.not_wanted`,
    ///   `transaction.not_approved`, `session.not_owner`.
    @discardableResult
    public func confirm(_ id: TransactionID) async throws(TapClientError) -> Transaction {
        try await call(HTTPClientRequest(.post, "/v1/transactions/\(id)/confirmation"))
    }

    /// Takes a payment back, as a whole. It may still be `reversing` in the answer; asking again changes nothing. Of one that
    /// is still on its way the answer has the state of now: it is taken back should it be approved.
    ///
    /// - Throws: `transaction.not_approved`, `queue.stored`, `session.not_owner`.
    @discardableResult
    public func reverse(
        _ id: TransactionID, reason: ReversalRequest.Reason = .customerCancel
    ) async throws(TapClientError) -> Transaction {
        let body = try Self.encode(ReversalRequest(reason: reason))
        return try await call(
            HTTPClientRequest(
                .post, "/v1/transactions/\(id)/reversal", fields: ["Content-Type": "application/json"], body: body))
    }

    /// What happens on the lanes, from now on or from after an event seen before.
    ///
    /// The sequence survives a restart of the daemon and an overflow: it connects again and asks for what it missed. It
    /// throws when the daemon refuses, or cannot be reached for `maximumOutage`. Every event that this version knows is asked
    /// for; an older daemon sends those that it has.
    ///
    /// - Parameters:
    ///   - cursor: `id` of the last event that was dealt with.
    ///   - maximumOutage: how long the daemon may be away, for instance to be restarted.
    public func events(after cursor: UInt64? = nil, maximumOutage: Duration = .seconds(30)) -> TapEvents {
        TapEvents(client: client, cursor: cursor, answerTime: answerTime, maximumOutage: maximumOutage)
    }

    private func begin(_ call: HTTPClientRequest) async throws(TapClientError) -> TapTransaction {
        let connection: HTTPClientConnection
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) {
            connection = try await client.connect()
            answer = try await connection.send(call, answerWithin: answerTime)
        } catch {
            throw TapClientError(error, at: path)
        }
        return TapTransaction(started: try Self.decode(answer), client: self, connection: connection)
    }

    private func get<Message: Decodable>(
        _ target: String, as type: Message.Type = Message.self
    ) async throws(TapClientError) -> Message {
        try await call(HTTPClientRequest(.get, target))
    }

    /// An answer that is text.
    func text(_ request: HTTPClientRequest) async throws(TapClientError) -> String {
        guard let text = String(validating: try await bytes(request), as: UTF8.self) else {
            throw .unexpected("text that is not UTF-8")
        }
        return text
    }

    func bytes(_ request: HTTPClientRequest) async throws(TapClientError) -> [UInt8] {
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) {
            answer = try await client.send(request, answerWithin: answerTime)
        } catch {
            throw TapClientError(error, at: path)
        }
        guard (200...299).contains(answer.status) else { throw TapClientError(refusal: answer) }
        return answer.body
    }

    func call<Message: Decodable>(
        _ request: HTTPClientRequest, answerWithin time: Duration? = nil
    ) async throws(TapClientError) -> Message {
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) {
            answer = try await client.send(request, answerWithin: time ?? answerTime)
        } catch {
            throw TapClientError(error, at: path)
        }
        return try Self.decode(answer)
    }

    func connection() async throws(HTTPClientError) -> HTTPClientConnection { try await client.connect() }

    static func decode<Message: Decodable>(_ answer: HTTPClientAnswer) throws(TapClientError) -> Message {
        guard (200...299).contains(answer.status) else { throw TapClientError(refusal: answer) }
        do throws(WireError) {
            return try WireJSON.decode(Message.self, from: answer.body)
        } catch {
            throw .unexpected("\(error)")
        }
    }

    static func pause(_ time: Duration) async throws(TapClientError) {
        guard (try? await Task.sleep(for: time)) != nil else { throw .callCancelled }
    }

    static func encode(_ request: some Encodable) throws(TapClientError) -> [UInt8] {
        do throws(WireError) {
            return try WireJSON.encode(request)
        } catch {
            throw TapClientError(ErrorDetail(error.code, field: error.field))
        }
    }
}
