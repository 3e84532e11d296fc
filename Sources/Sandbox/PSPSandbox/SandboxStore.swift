// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Where the sandbox keeps its books and its keys: in memory, or in a file that several sandboxes share as the replicas of one
/// adapter do. Used by one task at a time.
protocol SandboxStore: AnyObject {
    /// All of `body` or nothing of it, and no other sandbox in between.
    func atomically<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result

    func request(_ name: RequestName) throws(StoreError) -> StoredRequest?
    func save(_ request: StoredRequest, as name: RequestName) throws(StoreError)
    /// As if the request had never come.
    func forget(_ name: RequestName) throws(StoreError)

    func payment(_ id: TransactionID) throws(StoreError) -> BookedPayment?
    func save(_ payment: BookedPayment) throws(StoreError)
    /// In the order in which they were first saved.
    func payments() throws(StoreError) -> [BookedPayment]

    /// Which payment an operation is about.
    func payment(ofOperation id: OperationID) throws(StoreError) -> TransactionID?
    func note(_ id: OperationID, of payment: TransactionID) throws(StoreError)

    /// What was said of a day, by its id.
    func reconciliation(_ id: String) throws(StoreError) -> BookedDay?
    func save(_ day: BookedDay) throws(StoreError)

    /// - Returns: whether it was not there before.
    func noteOnce(_ fact: String) throws(StoreError) -> Bool
    /// 1, 2, 3 …
    func nextReference() throws(StoreError) -> Int64
    /// A secret that all sandboxes of this store share.
    func secret() throws(StoreError) -> [UInt8]
}

/// The store did not do what it was asked for; the number is SQLite's.
public struct StoreError: Error, Equatable, Sendable {
    public let code: Int32
}

/// A key counts for one path.
struct RequestName: Hashable, Sendable {
    let path: String
    let key: String
}

/// What is known of a request, from before it is carried out.
struct StoredRequest: Codable, Equatable, Sendable {
    /// SHA-256 of the body.
    let digest: [UInt8]
    /// Whoever carries it out is taken for dead after that.
    var leasedUntil: Timestamp
    /// `nil` while it is carried out.
    var answer: SandboxAnswer?
}

/// Lost with the process.
final class MemoryStore: SandboxStore {
    private var requests: [RequestName: StoredRequest] = [:]
    private var order: [TransactionID] = []
    private var booked: [TransactionID: BookedPayment] = [:]
    private var owners: [OperationID: TransactionID] = [:]
    private var days: [String: BookedDay] = [:]
    private var facts: Set<String> = []
    private var references: Int64 = 0
    private let key: [UInt8]

    init(secret: [UInt8]) { key = secret }

    func atomically<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result { try body() }

    func request(_ name: RequestName) -> StoredRequest? { requests[name] }
    func save(_ request: StoredRequest, as name: RequestName) { requests[name] = request }
    func forget(_ name: RequestName) { requests[name] = nil }

    func payment(_ id: TransactionID) -> BookedPayment? { booked[id] }
    func save(_ payment: BookedPayment) {
        if booked.updateValue(payment, forKey: payment.id) == nil { order.append(payment.id) }
    }
    func payments() -> [BookedPayment] { order.compactMap { booked[$0] } }

    func payment(ofOperation id: OperationID) -> TransactionID? { owners[id] }
    func note(_ id: OperationID, of payment: TransactionID) { owners[id] = payment }

    func reconciliation(_ id: String) -> BookedDay? { days[id] }
    func save(_ day: BookedDay) { days[day.id] = day }

    func noteOnce(_ fact: String) -> Bool { facts.insert(fact).inserted }
    func nextReference() -> Int64 {
        references += 1
        return references
    }
    func secret() -> [UInt8] { key }
}
