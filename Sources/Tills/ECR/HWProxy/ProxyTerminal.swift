// SPDX-License-Identifier: Apache-2.0
public import Codes

/// The proxy's side of hw_proxy on one lane: a till starts a payment and then asks once a second what became of it. A till
/// knows of an approval once a poll of its own that says so was written in full.
///
/// Each request is an exchange with a connection number of its own; the host says `sent` or `lost` after its answer.
public struct ProxyTerminal: TillTerminal {
    public struct Settings: Sendable {
        public var currency: CurrencyCode
        public var terminal: String
        /// Names and addresses by which a browser may reach this proxy, with their port.
        public var hosts: Set<String>
        /// Pages that may use it.
        public var origins: Set<String>

        public init(currency: CurrencyCode, terminal: String = "0", hosts: Set<String>, origins: Set<String>) {
            self.currency = currency
            self.terminal = terminal
            self.hosts = hosts
            self.origins = origins
        }
    }

    static let confirmWithin = 30
    static let parkedTime: Int64 = 5_000
    static let mostParked = 8
    /// A till that asks for nothing any more has gone.
    static let silence: Int64 = 30_000
    static let listed = 20
    private static let startPath = "/hw_proxy/payment_terminal_transaction_start"

    private struct Parked {
        var connection: TillConnection
        var request: ProxyRequest
        var id: String
        var order: TillOrder
    }

    public private(set) var desk: TillMachine
    private let settings: Settings
    /// A payment that waits for the one before it, and each further press for it. A press that is refused would have the till
    /// show a failure of a payment that goes on.
    private var parked: [Parked] = []
    /// Answers that hold the approval and have not left yet.
    private var tellings: [TillConnection: AttemptKey] = [:]
    /// Answers to a start that have not left yet. A till that does not get one knows of no payment that it could ask for.
    private var beginnings: [TillConnection: AttemptKey] = [:]
    /// Its till knows of it.
    private var known: AttemptKey?
    /// Asked for again after many others.
    private var pinned: UInt64?
    private var questions = ProxyQuestions()

    public init(desk: TillMachine, settings: Settings) {
        self.desk = desk
        self.settings = settings
    }

    public mutating func handle(_ input: TillInput, at now: Int64) -> [TillEffect] {
        var effects: [TillEffect] = []
        switch input {
        case .restored:
            desk.restore(keepsWaiting: true, &effects)
            known = desk.open?.key
            if desk.open != nil { waitForQuestions(at: now, &effects) }
        case .sent(let connection):
            if let key = beginnings.removeValue(forKey: connection) { known = key }
            guard let key = tellings.removeValue(forKey: connection) else { break }
            // Another poll may have failed meanwhile; this one was read.
            _ = desk.beginTelling(key, at: now, confirmWithin: Self.confirmWithin, &effects)
            desk.told(key, at: now, &effects)
        case .lost(let connection, _):
            parked.removeAll { $0.connection == connection }
            if let key = tellings.removeValue(forKey: connection), !tellings.values.contains(key) {
                desk.notTold(key, &effects)
            }
            // Polls of other pages would go on for it, and one of them be told of its approval.
            if let key = beginnings.removeValue(forKey: connection), key != known, !beginnings.values.contains(key) {
                desk.giveUp(key, &effects)
            }
        case .timer(.parked(let connection)):
            for waiting in parked where waiting.connection == connection { refuse(waiting, .busy, &effects) }
        case .timer(.keepWaiting):
            if let open = desk.open { desk.giveUp(open.key, &effects) }
        case .settled(let key, let outcome): _ = desk.settle(key, outcome, at: now, &effects)
        case .tooLate(let key):
            if desk.open?.key == key { for waiting in parked { refuse(waiting, .busy, &effects) } }
        case .confirmed, .notConfirmed, .takenBack, .reversed, .booked, .day: desk.acknowledged(input, &effects)
        case .connected, .bytes, .timer, .progress, .receipts, .identified: break
        }
        unpark(at: now, &effects)
        return effects
    }

    public mutating func request(
        _ request: ProxyRequest, on connection: TillConnection, at now: Int64
    ) -> [TillEffect] {
        var effects: [TillEffect] = []
        if let response = answer(request, on: connection, at: now, &effects) {
            effects.append(.respond(marked(response, for: request), connection))
        }
        unpark(at: now, &effects)
        return effects
    }

    // MARK: - HTTP

    private mutating func answer(
        _ request: ProxyRequest, on connection: TillConnection, at now: Int64, _ effects: inout [TillEffect]
    ) -> ProxyResponse? {
        guard let host = request.host, settings.hosts.contains(host) else { return ProxyResponse(403) }
        if let origin = request.origin, !settings.origins.contains(origin) { return ProxyResponse(403) }
        let path = request.path.split(separator: "?", maxSplits: 1).first.map(String.init) ?? ""
        if request.method == "OPTIONS" { return ProxyResponse(204) }
        switch (request.method, path) {
        case ("GET", "/hw_proxy/hello"): return ProxyResponse(200, text: "ping")
        case ("POST", "/hw_proxy/handshake"), ("POST", "/hw_proxy/log"), ("POST", "/hw_proxy/status_json"),
            ("POST", Self.startPath):
            break
        default: return ProxyResponse(404)
        }
        // A page may send text to anybody without asking first; JSON it may not.
        let type = request.contentType?.split(separator: ";").first.map { $0.filter { $0 != " " }.lowercased() }
        guard type == "application/json" else { return ProxyResponse(403) }
        let call: ProxyCall
        do throws(ProxyCall.Failure) { call = try ProxyCall(request.body) } catch {
            if path == Self.startPath { _ = makeWay(for: nil, &effects) }
            return ProxyResponse(400)
        }
        switch path {
        case "/hw_proxy/status_json": return poll(call, on: connection, at: now, &effects)
        case Self.startPath: return start(call, request, on: connection, at: now, &effects)
        default: return ProxyResponse(result: "true", id: call.id)
        }
    }

    /// What a browser has to be told of who may ask.
    private func marked(_ response: ProxyResponse, for request: ProxyRequest) -> ProxyResponse {
        let varying = response.with("Vary", "Origin")
        guard let origin = request.origin, settings.origins.contains(origin) else { return varying }
        let open = varying.with("Access-Control-Allow-Origin", origin)
        guard request.method == "OPTIONS", response.status == 204 else { return open }
        let preflight = open.with("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
            .with("Access-Control-Allow-Headers", "Content-Type").with("Access-Control-Max-Age", "600")
        return request.asksForPrivateNetwork
            ? preflight.with("Access-Control-Allow-Private-Network", "true") : preflight
    }

    // MARK: - Payments

    /// From memory, and at once: a till whose poll fails lets its cashier book the payment by hand.
    private mutating func poll(
        _ call: ProxyCall, on connection: TillConnection, at now: Int64, _ effects: inout [TillEffect]
    ) -> ProxyResponse {
        let isAbout =
            name.isMeant(by: call.terminal) && questions.ask(isNamed: name.isNamed(by: call.terminal), at: now)
        if let open = desk.open, isAbout {
            effects.append(.arm(.keepWaiting, milliseconds: Self.silence))
            if open.phase == .approved || open.phase == .telling,
                desk.beginTelling(open.key, at: now, confirmWithin: Self.confirmWithin, &effects)
            {
                tellings[connection] = open.key
            }
        }
        var attempts = desk.finished.suffix(Self.listed) + [desk.open].compactMap(\.self)
        if let pinned, !attempts.contains(where: { $0.number == pinned }), let attempt = desk.attempt(pinned) {
            attempts.insert(attempt, at: attempts.startIndex)
        }
        return ProxyResponse(
            result: ProxyAnswer.status(
                terminal: settings.terminal, Array(attempts), untold: isAbout ? nil : desk.open?.key), id: call.id)
    }

    private var name: ProxyTerminalName { ProxyTerminalName(id: settings.terminal, lane: desk.lane) }

    private mutating func waitForQuestions(at now: Int64, _ effects: inout [TillEffect]) {
        questions.begin(at: now)
        effects.append(.arm(.keepWaiting, milliseconds: Self.silence))
    }

    private mutating func start(
        _ call: ProxyCall, _ request: ProxyRequest, on connection: TillConnection, at now: Int64,
        _ effects: inout [TillEffect]
    ) -> ProxyResponse? {
        let order: TillOrder
        do throws(ProxyRefusal) {
            guard let info = call.paymentInfo else { throw .notAPayment }
            order = try ProxyPayment(info, in: settings.currency, name).order
        } catch {
            _ = makeWay(for: nil, &effects)
            return refusal(call.id, error, &effects)
        }
        guard makeWay(for: order, &effects) else { return refusal(call.id, .busy, &effects) }
        switch desk.ask(order, peer: "", confirmWithin: Self.confirmWithin, &effects) {
        case .started(let key): return begun(key, call.id, connection, at: now, &effects)
        case .same(let attempt): return same(attempt, call.id, connection, at: now, &effects)
        case .wait where parked.count < Self.mostParked:
            parked.append(Parked(connection: connection, request: request, id: call.id, order: order))
            effects.append(.arm(.parked(connection), milliseconds: Self.parkedTime))
            return nil
        case .wait, .busy: return refusal(call.id, .busy, &effects)
        }
    }

    /// A till does not say when its cashier gives up: the next start is the cancel, whatever becomes of itself. Else the customer
    /// of a start that is refused would pay what the one before has asked for.
    ///
    /// - Parameter order: what the start asks for; `nil` where it is refused.
    /// - Returns: `false` where the payment before it is being told, which is not stopped.
    private mutating func makeWay(for order: TillOrder?, _ effects: inout [TillEffect]) -> Bool {
        for waiting in parked where order?.isRepeat(of: waiting.order) != true { refuse(waiting, .busy, &effects) }
        guard let open = desk.open, order?.isRepeat(of: open.order) != true else { return true }
        guard open.phase != .telling else { return false }
        desk.giveUp(open.key, &effects)
        return true
    }

    private func refusal(_ id: String, _ reason: ProxyRefusal, _ effects: inout [TillEffect]) -> ProxyResponse {
        effects.append(.alarm(.notStarted(reason)))
        return ProxyResponse(result: "false", id: id)
    }

    private mutating func begun(
        _ key: AttemptKey, _ id: String, _ connection: TillConnection, at now: Int64, _ effects: inout [TillEffect]
    ) -> ProxyResponse? {
        waitForQuestions(at: now, &effects)
        return desk.attempt(key).map { answer($0, id, connection) }
    }

    private mutating func same(
        _ attempt: Attempt, _ id: String, _ connection: TillConnection, at now: Int64, _ effects: inout [TillEffect]
    ) -> ProxyResponse {
        pinned = attempt.number
        if desk.open?.key == attempt.key { waitForQuestions(at: now, &effects) }
        return answer(attempt, id, connection)
    }

    private mutating func answer(_ attempt: Attempt, _ id: String, _ connection: TillConnection) -> ProxyResponse {
        beginnings[connection] = attempt.key
        return ProxyResponse(result: ProxyAnswer.transaction(attempt, told: false), id: id)
    }

    private mutating func unpark(at now: Int64, _ effects: inout [TillEffect]) {
        guard !parked.isEmpty, desk.open == nil else { return }
        let all = parked
        parked = []
        for waiting in all {
            switch desk.ask(waiting.order, peer: "", confirmWithin: Self.confirmWithin, &effects) {
            case .started(let key):
                if let response = begun(key, waiting.id, waiting.connection, at: now, &effects) {
                    effects.append(.respond(marked(response, for: waiting.request), waiting.connection))
                }
            case .same(let attempt):
                let response = same(attempt, waiting.id, waiting.connection, at: now, &effects)
                effects.append(.respond(marked(response, for: waiting.request), waiting.connection))
            case .wait, .busy: refuse(waiting, .busy, &effects)
            }
        }
    }

    private mutating func refuse(_ waiting: Parked, _ reason: ProxyRefusal, _ effects: inout [TillEffect]) {
        parked.removeAll { $0.connection == waiting.connection }
        let response = refusal(waiting.id, reason, &effects)
        effects.append(.respond(marked(response, for: waiting.request), waiting.connection))
    }
}
