// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// An idempotency key belongs to whoever sends it: two tills may use the same.
public struct PrincipalKey: Hashable, Sendable {
    public let owner: Principal
    public let key: String

    public init(_ owner: Principal, key: String) {
        self.owner = owner
        self.key = key
    }
}

/// Idempotency keys whose first request has not been answered yet, with the transaction once there is one.
public struct KeyTable: Sendable {
    private var inUse: [PrincipalKey: TransactionID?] = [:]

    public init() {}

    /// Takes a key for one request until it has been answered.
    ///
    /// - Returns: `nil`, or what to answer instead.
    public mutating func claim(_ key: PrincipalKey) -> ErrorBody? {
        if let running = inUse[key] { return ErrorBody(.idempotencyInProgress, transaction: running) }
        inUse[key] = .some(nil)
        return nil
    }

    /// The transaction of a request that has not been answered yet; `.some(nil)` where it has none yet, `nil` for no such
    /// request.
    public func holder(of key: PrincipalKey) -> TransactionID?? { inUse[key] }

    public mutating func bind(_ key: PrincipalKey, to id: TransactionID) { inUse[key] = .some(id) }

    public mutating func release(_ key: PrincipalKey) { inUse[key] = nil }
}

/// Orders whose card could not be read, with how often; the latest of them.
public struct FailedReadTable: Sendable {
    /// More orders than a shop has open at a time.
    public static let capacity = 64

    private var counts: [(order: String, count: Int)] = []

    public init() {}

    public func count(of order: String?) -> Int {
        counts.first { $0.order == order }?.count ?? 0
    }

    /// - Parameter count: 0 once a card was read: the next failure is a first one.
    public mutating func set(_ count: Int, of order: String?) {
        guard let order else { return }
        counts.removeAll { $0.order == order }
        guard count > 0 else { return }
        counts.append((order, count))
        if counts.count > FailedReadTable.capacity { counts.removeFirst() }
    }
}

/// What lives in memory only: passes from the moment they are read until some time after the transaction's end, and reads that another
/// way to pay may go on with.
public struct MemoryShelf<Kept: Sendable>: Sendable {
    /// Long enough for a till that asks again, too short to become a store of customers.
    public static var afterEnd: Duration { .seconds(60) }

    private var kept: [TransactionID: (thing: Kept, until: Int64)] = [:]

    public init() {}

    public subscript(id: TransactionID) -> Kept? { kept[id]?.thing }

    /// - Parameter until: on the monotonic clock; without it until some time after the transaction's end.
    public mutating func keep(_ thing: Kept, of id: TransactionID, until: Int64 = .max) { kept[id] = (thing, until) }

    /// The transaction has ended.
    public mutating func end(_ id: TransactionID, at now: Moment) {
        guard let thing = kept[id]?.thing else { return }
        kept[id] = (thing, now.after(Self.afterEnd))
    }

    public mutating func forget(_ id: TransactionID) { kept[id] = nil }

    /// Forgets what has been kept for long enough.
    public mutating func expire(at now: Moment) { kept = kept.filter { $0.value.until > now.monotonic } }

    /// When something is to be forgotten next, on the monotonic clock.
    public var due: Int64? { kept.values.map(\.until).filter { $0 < .max }.min() }
}

/// Connections on which somebody cares for a transaction.
public struct HolderTable: Sendable {
    private struct Holders {
        var connections: Set<UInt64> = []
        /// How often somebody began to care for it.
        var generation = 0
    }

    private var held: [TransactionID: Holders] = [:]

    public init() {}

    /// - Returns: whether that is new.
    public mutating func retain(_ id: TransactionID, by connection: UInt64) -> Bool {
        guard held[id, default: Holders()].connections.insert(connection).inserted else { return false }
        held[id]?.generation += 1
        return true
    }

    /// The connection has gone.
    ///
    /// - Returns: the holders' generation, where nobody is left; `nil` where somebody is.
    public mutating func release(_ id: TransactionID, by connection: UInt64) -> Int? {
        held[id]?.connections.remove(connection)
        guard let holders = held[id], holders.connections.isEmpty else { return nil }
        return holders.generation
    }

    /// Nobody cares for it, and nobody has since.
    public func isAbandoned(_ id: TransactionID, since generation: Int) -> Bool {
        held[id].map { $0.connections.isEmpty && $0.generation == generation } ?? false
    }

    public func connections(of id: TransactionID) -> Set<UInt64> { held[id]?.connections ?? [] }

    public mutating func forget(_ id: TransactionID) { held[id] = nil }
}
