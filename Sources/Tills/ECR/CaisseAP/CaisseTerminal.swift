// SPDX-License-Identifier: Apache-2.0
public import Codes

/// The terminal's side of Caisse-AP over IP on one lane. A till connects, sends one request, and reads one answer.
///
/// The till knows of an approval once the whole answer has left in one piece; a reset within ten seconds says that it was not
/// read, and the payment is taken back.
public struct CaisseTerminal: TillTerminal {
    public struct Settings: Sendable {
        public var currency: CurrencyCode
        public var kinds: Set<TillOrder.Kind>

        public init(currency: CurrencyCode, kinds: Set<TillOrder.Kind> = [.sale]) {
            self.currency = currency
            self.kinds = kinds
        }
    }

    static let confirmWithin = 30
    static let maximumRequest = 4_096
    static let maximumConnections = 8
    static let requestTime: Int64 = 5_000
    static let quietTime: Int64 = 50
    static let parkedTime: Int64 = 30_000
    static let watchTime: Int64 = 10_000
    /// Known clients give up after 177 s: what is not settled by then is not told.
    static let patience: Int64 = 170_000

    private enum Visit {
        case reading([UInt8])
        /// Waits for the end of an attempt that somebody else has given up.
        case parked(CaisseRequest)
        case waiting(CaisseRequest, AttemptKey)
        /// The approval leaves, or has just left.
        case telling(AttemptKey)
        case told(AttemptKey)
    }

    private struct Guest {
        var peer: String
        var visit: Visit = .reading([])
        /// It sent more before it had its answer: where one request ends cannot be told any more.
        var isSpoiled = false
    }

    public private(set) var desk: TillMachine
    private let settings: Settings
    private var guests: [TillConnection: Guest] = [:]

    public init(desk: TillMachine, settings: Settings) {
        self.desk = desk
        self.settings = settings
    }

    public mutating func handle(_ input: TillInput, at now: Int64) -> [TillEffect] {
        var effects: [TillEffect] = []
        switch input {
        case .restored: desk.restore(keepsWaiting: false, &effects)
        case .connected(let connection, let peer): connected(connection, peer, &effects)
        case .bytes(let bytes, let connection): received(bytes, connection, &effects)
        case .lost(let connection, let loss): lost(connection, loss, &effects)
        case .sent(let connection): sent(connection, at: now, &effects)
        case .timer(let timer): fired(timer, &effects)
        case .settled(let key, let outcome): settled(key, outcome, at: now, &effects)
        case .confirmed, .notConfirmed, .takenBack, .reversed, .booked, .day: desk.acknowledged(input, &effects)
        case .progress, .tooLate, .receipts, .identified: break
        }
        unpark(&effects)
        return effects
    }

    private mutating func fired(_ timer: TillTimer, _ effects: inout [TillEffect]) {
        switch timer {
        case .quiet(let connection): fellSilent(connection, &effects)
        case .request(let connection): ranOut(connection, &effects)
        case .parked(let connection): waitedTooLong(connection, &effects)
        case .patience(let key): lostPatience(key, &effects)
        case .watch(let key): watched(key, &effects)
        case .answer, .again, .keepWaiting, .card, .kept, .serialByte, .serialFrame: break
        }
    }

    // MARK: - Requests

    private mutating func connected(_ connection: TillConnection, _ peer: String, _ effects: inout [TillEffect]) {
        guard guests.count < Self.maximumConnections, guests[connection] == nil else {
            effects.append(.close(connection))
            return
        }
        guests[connection] = Guest(peer: peer)
        effects.append(.arm(.request(connection), milliseconds: Self.requestTime))
    }

    private mutating func received(_ bytes: [UInt8], _ connection: TillConnection, _ effects: inout [TillEffect]) {
        guard var guest = guests[connection], !bytes.isEmpty else { return }
        switch guest.visit {
        case .reading(let before):
            if before.isEmpty { effects.append(.arm(.request(connection), milliseconds: Self.requestTime)) }
            guard before.count + bytes.count <= Self.maximumRequest else {
                refuse(.format, CaisseMessage(), connection, &effects)
                end(connection, &effects)
                return
            }
            guest.visit = .reading(before + bytes)
            effects.append(.arm(.quiet(connection), milliseconds: Self.quietTime))
        case .told:
            // The next request says that the answer to the one before it was read.
            guest.visit = .reading(bytes)
            effects += [
                .arm(.request(connection), milliseconds: Self.requestTime),
                .arm(.quiet(connection), milliseconds: Self.quietTime),
            ]
        case .parked, .waiting, .telling: guest.isSpoiled = true
        }
        guests[connection] = guest
    }

    /// 50 ms without a byte: a request whose tags are all there is whole.
    private mutating func fellSilent(_ connection: TillConnection, _ effects: inout [TillEffect]) {
        guard case .reading(let bytes)? = guests[connection]?.visit, !bytes.isEmpty else { return }
        do throws(CaisseMessage.Failure) {
            let message = try CaisseMessage(bytes)
            guard CaisseRequest.isWhole(message) else { return }
            begin(message, connection, &effects)
        } catch {
            guard error != .truncated else { return }
            refuse(.format, CaisseMessage(), connection, &effects)
            end(connection, &effects)
        }
    }

    private mutating func ranOut(_ connection: TillConnection, _ effects: inout [TillEffect]) {
        guard case .reading(let bytes)? = guests[connection]?.visit else { return }
        if !bytes.isEmpty { refuse(.format, CaisseMessage(), connection, &effects) }
        end(connection, &effects)
    }

    private mutating func begin(
        _ message: CaisseMessage, _ connection: TillConnection, _ effects: inout [TillEffect]
    ) {
        do throws(CaisseReason) {
            let request = try CaisseRequest(message, allowing: settings.kinds, in: settings.currency)
            admit(request, connection, &effects)
        } catch {
            refuse(error, message, connection, &effects)
            release(connection, &effects)
        }
    }

    private mutating func admit(
        _ request: CaisseRequest, _ connection: TillConnection, _ effects: inout [TillEffect]
    ) {
        guard let guest = guests[connection] else { return }
        switch desk.ask(request.order, peer: guest.peer, confirmWithin: Self.confirmWithin, &effects) {
        case .started(let key):
            guests[connection]?.visit = .waiting(request, key)
            effects.append(.arm(.patience(key), milliseconds: Self.patience))
        case .wait where !isParked:
            guests[connection]?.visit = .parked(request)
            effects.append(.arm(.parked(connection), milliseconds: Self.parkedTime))
        // A request of this protocol has no identity, so that it is never the same as another one.
        case .wait, .busy, .same:
            refuse(.notCompleted, request.message, connection, &effects)
            release(connection, &effects)
        }
    }

    private var isParked: Bool {
        guests.values.contains { if case .parked = $0.visit { true } else { false } }
    }

    /// The one that waits begins as soon as the lane is free.
    private mutating func unpark(_ effects: inout [TillEffect]) {
        guard desk.open == nil else { return }
        for (connection, guest) in guests {
            guard case .parked(let request) = guest.visit else { continue }
            admit(request, connection, &effects)
            return
        }
    }

    private mutating func waitedTooLong(_ connection: TillConnection, _ effects: inout [TillEffect]) {
        guard case .parked(let request)? = guests[connection]?.visit else { return }
        refuse(.notCompleted, request.message, connection, &effects)
        release(connection, &effects)
    }

    // MARK: - Outcomes

    private mutating func settled(
        _ key: AttemptKey, _ outcome: TillOutcome, at now: Int64, _ effects: inout [TillEffect]
    ) {
        guard let attempt = desk.settle(key, outcome, at: now, &effects) else { return }
        guard let (connection, request) = waiting(for: key) else {
            desk.giveUp(key, &effects)
            return
        }
        if let approval = attempt.approval, attempt.phase == .approved,
            desk.beginTelling(key, at: now, confirmWithin: Self.confirmWithin, &effects)
        {
            guests[connection]?.visit = .telling(key)
            effects.append(.send(CaisseAnswer.approved(approval, to: request), connection, isApproval: true))
        } else {
            let reason = CaisseReason(attempt.refusal?.reason ?? .failed)
            refuse(attempt.phase == .takingBack ? .refused : reason, request.message, connection, &effects)
            release(connection, &effects)
        }
    }

    private mutating func sent(_ connection: TillConnection, at now: Int64, _ effects: inout [TillEffect]) {
        guard case .telling(let key)? = guests[connection]?.visit else { return }
        desk.told(key, at: now, &effects)
        guests[connection]?.visit = .told(key)
        effects.append(.arm(.watch(key), milliseconds: Self.watchTime))
        if guests[connection]?.isSpoiled == true { effects.append(.close(connection)) }
    }

    /// Not settled while a till still waits for it. This protocol cannot say "unknown": the connection ends without an answer,
    /// which tills show as a fault, and an approval that comes later is taken back.
    private mutating func lostPatience(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        guard let (connection, _) = waiting(for: key) else { return }
        desk.giveUp(key, &effects)
        end(connection, &effects)
    }

    private mutating func watched(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        for (connection, guest) in guests {
            guard case .told(key) = guest.visit else { continue }
            end(connection, &effects)
        }
    }

    private func waiting(for key: AttemptKey) -> (TillConnection, CaisseRequest)? {
        for (connection, guest) in guests {
            if case .waiting(let request, key) = guest.visit { return (connection, request) }
        }
        return nil
    }

    // MARK: - Connections

    private mutating func lost(
        _ connection: TillConnection, _ loss: TillInput.Loss, _ effects: inout [TillEffect]
    ) {
        guard let guest = guests.removeValue(forKey: connection) else { return }
        switch guest.visit {
        case .reading, .parked: break
        case .waiting(_, let key), .telling(let key): desk.giveUp(key, &effects)
        case .told(let key):
            if loss == .reset { desk.takeBack(key, .malfunction, &effects) }
        }
    }

    private func refuse(
        _ reason: CaisseReason, _ message: CaisseMessage, _ connection: TillConnection, _ effects: inout [TillEffect]
    ) {
        effects.append(.send(CaisseAnswer.refused(reason, to: message), connection))
    }

    /// Has its answer: it may ask again on this connection, unless it already sent what nobody can read.
    private mutating func release(_ connection: TillConnection, _ effects: inout [TillEffect]) {
        guard guests[connection]?.isSpoiled == false else { return end(connection, &effects) }
        guests[connection]?.visit = .reading([])
        effects.append(.arm(.request(connection), milliseconds: Self.requestTime))
    }

    private mutating func end(_ connection: TillConnection, _ effects: inout [TillEffect]) {
        guests[connection] = nil
        effects.append(.close(connection))
    }
}
