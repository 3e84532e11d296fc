// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import Foundation
import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Synchronization
import TapClient
import Testing

@testable import TillBridge

/// A till's payments with a daemon that loses answers, is full, contradicts itself and refuses: a real server that answers by a script.
@Suite("The payments of a till", .timeLimit(.minutes(5)))
struct TillPaymentsTests {
    private static let id = TransactionID(at: .now)
    private static let operationID = OperationID(at: .now)
    private static let key = AttemptKey(lane: "main", installation: "1", counter: 1)

    private struct Asked: Equatable {
        var call: String
        var key: String?
    }

    /// Runs `body` against the script, which gets each request's number among its like.
    ///
    /// - Returns: what the till's machine was told, and what the daemon was asked.
    private func run(
        test: Bool = true, bodies: Box<String> = Box<String>(),
        _ script: @escaping @Sendable (String, Int) throws -> HTTPResponse,
        _ body: (TillPayments) async -> Void
    ) async throws -> (told: [TillInput], asked: [Asked]) {
        let folder = NSTemporaryDirectory() + "tp-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (asked, told) = (Box<Asked>(), Box<TillInput>())
        let server = HTTPServer(
            socket: try ListeningSocket(path: folder + "/s"), limits: HTTPLimits(), logger: Logger(label: "test")
        ) { request in
            let call = "\(request.method.rawValue) \(request.path.dropFirst().joined(separator: "/"))"
            let number = asked.add(Asked(call: call, key: request.fields.only("Idempotency-Key"))) { $0.call == call }
            _ = bodies.add(String(decoding: request.body, as: UTF8.self)) { _ in false }
            do { return try script(call, number) } catch { return HTTPResponse(status: 599) }
        }
        let table = """
            [[till]]
            name = "bar"
            protocol = "zvt"
            listen = "127.0.0.1:20007"
            lane = "main"
            refund-limit = 500
            reservations = true
            test = \(test)
            """
        let till = try #require(try TillsFile(file: "tills", text: table).tills.first)
        let payments = TillPayments(TapClient(path: folder + "/s"), till, Logger(label: "test")) { told.add($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            await body(payments)
            server.shutDown(grace: .zero)
            try await group.waitForAll()
        }
        return (told.all, asked.all)
    }

    private static func transaction(_ state: TransactionState, _ mode: Mode = .test) throws -> HTTPResponse {
        .json(state.isSettled ? 200 : 201, try WireJSON.encode(paid(state, mode)))
    }

    private static func paid(
        _ state: TransactionState, _ mode: Mode = .test, at milliseconds: Int64 = Timestamp.now.milliseconds
    ) throws -> Transaction {
        let euro = try #require(Currency("EUR"))
        var transaction = Transaction(
            id: id, type: .purchase, mode: mode, lane: "main", amount: Money(value: 1_250, currency: euro),
            createdAt: Timestamp(milliseconds: milliseconds))
        transaction.state = state
        return transaction
    }

    private static func operation(_ state: OperationState) throws -> HTTPResponse {
        let operation = PaymentOperation(
            id: operationID, transaction: id, kind: .capture, state: state, createdAt: .now)
        return .json(state.isOpen ? 202 : 201, try WireJSON.encode(operation))
    }

    private static func refusal(_ code: ErrorCode) throws -> HTTPResponse {
        .json(code.entry.status, try WireJSON.encode(ErrorBody(code)))
    }

    private static func demand(_ kind: TillOrder.Kind = .sale, _ amount: Int64 = 1_250) throws -> StartRequest {
        let order = TillOrder(kind: kind, amount: amount, currency: try #require(CurrencyCode("EUR")))
        return StartRequest(key: key, order: order, deadline: 90, confirmWithin: 60)
    }

    private static func booking(_ amount: Int64) -> Booking {
        Booking(key: AttemptKey(lane: "main", installation: "1", counter: 2), number: 2, amount: amount)
    }

    @Test("W4: a sale that its till can name has a name at the daemon, which charges none twice without its ledger")
    func nameOfSale() async throws {
        var demand = try Self.demand()
        demand.order.identity = "9:Order 001 2:c1 0:"
        let name = try #require(TillPayments.name(of: demand.order, at: "bar"))
        #expect(name.utf8.count <= 64 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        var others: Set<String> = [name]
        var other = demand.order
        other.amount += 1
        others.insert(try #require(TillPayments.name(of: other, at: "bar")))
        other = demand.order
        other.identity = "9:Order 001 2:c2 0:"
        others.insert(try #require(TillPayments.name(of: other, at: "bar")))
        others.insert(try #require(TillPayments.name(of: demand.order, at: "bar-2")))
        #expect(others.count == 4, "the desk takes them for four sales")
        // Two equal coffees of a till that cannot name them are two sales; a refund is none.
        #expect(try TillPayments.name(of: Self.demand().order, at: "bar") == nil)
        other.kind = .refund
        #expect(TillPayments.name(of: other, at: "bar") == nil)
        let bodies = Box<String>()
        let begun = demand
        let (told, asked) = try await run(bodies: bodies) { call, _ in
            call == "GET status" ? HTTPResponse(status: 500) : try Self.refusal(.orderPaid)
        } _: {
            await $0.start(begun)
        }
        #expect(bodies.all.contains { $0.contains("\"order\":\"\(name)\"") })
        #expect(asked.count { $0.call == "POST transactions" } == 1)
        guard case .settled(Self.key, .notPaid)? = told.first, told.count == 1 else {
            Issue.record("\(told)")
            return
        }
    }

    @Test("After a lost answer the same key is asked again, until the daemon says what became of it")
    func lostAnswer() async throws {
        let demand = try Self.demand()
        let (told, asked) = try await run { call, number in
            switch call {
            case "GET status": HTTPResponse(status: 500)
            case "POST transactions":
                switch number {
                case 0: HTTPResponse(status: 200, body: .bytes([0x7B]))
                case 1: try Self.refusal(.idempotencyInProgress)
                // Said before anybody has looked at the key: nothing of what was begun.
                case 2: try Self.refusal(.requestTooManyConnections)
                default: try Self.transaction(.armed)
                }
            case "GET transactions/\(Self.id)": try Self.transaction(.approved)
            default: try Self.refusal(.requestUnknownPath)
            }
        } _: {
            await $0.start(demand)
        }
        let starts = asked.filter { $0.call == "POST transactions" }
        #expect(starts.count >= 4 && Set(starts.map(\.key)) == [Self.key.text])
        guard case .settled(Self.key, .approved(let approval)) = told.first, told.count == 1 else {
            Issue.record("\(told)")
            return
        }
        #expect(approval.amount == 1_250)
    }

    @Test("What the daemon refuses before it begins is told as not paid, and a daemon that stays full as busy")
    func refused() async throws {
        let demand = try Self.demand()
        for (code, reason) in [(ErrorCode.readerBusy, TillRefusal.Reason.busy), (.requestTooManyConnections, .busy)] {
            let (told, _) = try await run { call, _ in
                call == "POST transactions" ? try Self.refusal(code) : HTTPResponse(status: 500)
            } _: {
                await $0.start(demand)
            }
            guard case .settled(Self.key, .notPaid(let refusal)) = told.first, told.count == 1 else {
                Issue.record("\(told)")
                continue
            }
            #expect(refusal.reason == reason, "\(code.rawValue)")
        }
    }

    @Test("What the daemon had under a new key before is another sale: it is not told as this one, and not touched")
    func olderLedger() async throws {
        let sale = try Self.demand()
        let (told, asked) = try await run { call, _ in
            switch call {
            case "POST transactions":
                .json(201, try WireJSON.encode(Self.paid(.approved, at: Timestamp.now.milliseconds - 90_000)))
            default: HTTPResponse(status: 500)
            }
        } _: {
            await $0.start(sale)
        }
        #expect(told == [.settled(Self.key, .notPaid(TillRefusal(.failed)))])
        #expect(asked.allSatisfy { ["GET status", "POST transactions"].contains($0.call) }, "\(asked)")
    }

    @Test("An approval that is heard of late says how old it is")
    func late() async throws {
        let (told, _) = try await run { call, _ in
            switch call {
            case "GET transactions":
                .json(200, try WireJSON.encode(TransactionList(transactions: [Self.paid(.approved)])))
            default: .json(200, try WireJSON.encode(Self.paid(.approved, at: Timestamp.now.milliseconds - 20_000)))
            }
        } _: {
            await $0.lookUp(Self.key)
        }
        guard case .settled(Self.key, .approved(let approval)) = told.first, told.count == 1 else {
            Issue.record("\(told)")
            return
        }
        #expect((20_000..<200_000).contains(approval.age))
    }

    @Test("A sale in the other mode never begins or is cancelled")
    func limits() async throws {
        let sale = try Self.demand()
        let (told, asked) = try await run { call, _ in
            switch call {
            // It was another daemon, or it was started anew.
            case "GET status": HTTPResponse(status: 500)
            case "POST transactions": try Self.transaction(.armed, .live)
            default: try Self.refusal(.transactionUnknown)
            }
        } _: {
            await $0.start(sale)
        }
        #expect(told == [.settled(Self.key, .notPaid(TillRefusal(.notPermitted)))])
        #expect(asked.contains { $0.call == "DELETE transactions/\(Self.id)" })
    }

    @Test(
        "An approval that the daemon has not kept is not confirmed, and one it never heard of has nothing to be taken back"
    )
    func unknown() async throws {
        let (told, _) = try await run { call, _ in
            switch call {
            case "GET transactions": try Self.refusal(.idempotencyKeyUnknown)
            default: HTTPResponse(status: 500)
            }
        } _: { payments in
            await payments.confirm(Self.key)
            await payments.takeBack(Self.key, .notDelivered)
            await payments.lookUp(Self.key)
            await payments.book(Self.booking(100), of: Self.key)
        }
        #expect(
            told == [
                .notConfirmed(Self.key), .takenBack(Self.key),
                .settled(Self.key, .notPaid(TillRefusal(.failed))), .booked(Self.key, .refused),
            ])
    }

    @Test("A booking is asked for under its own key until there is an answer, and waited for until it has an end")
    func booking() async throws {
        let (told, asked) = try await run { call, number in
            switch call {
            case "GET transactions":
                .json(200, try WireJSON.encode(TransactionList(transactions: [Self.paid(.approved)])))
            case "POST transactions/\(Self.id)/captures":
                number == 0 ? HTTPResponse(status: 200, body: .bytes([0x7B])) : try Self.operation(.sent)
            case "POST transactions/\(Self.id)/releases": try Self.operation(.refused)
            default:
                // The operation itself.
                number == 0 ? try Self.operation(.unknown) : try Self.operation(.done)
            }
        } _: { payments in
            await payments.book(Self.booking(100), of: Self.key)
            await payments.book(Self.booking(0), of: Self.key)
        }
        let ends = told.filter { if case .receipts = $0 { false } else { true } }
        let answers = ends.compactMap { if case .booked(Self.key, let answer, _) = $0 { answer } else { nil } }
        #expect(answers == [.done, .refused] && ends.count == 2, "\(asked.prefix(12))")
        // The till's result says when it was done, as the daemon has it.
        #expect(ends.allSatisfy { if case .booked(_, _, let time) = $0 { time != nil } else { false } })
        let captures = asked.filter { $0.call.hasSuffix("captures") }
        #expect(captures.count == 2 && Set(captures.map(\.key)) == ["ecr-main-1-2"])
    }
}

/// What was seen, in order.
private final class Box<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    /// - Returns: how many like it there were before.
    @discardableResult
    func add(_ element: Element, like: (Element) -> Bool = { _ in false }) -> Int {
        elements.withLock { elements in
            defer { elements.append(element) }
            return elements.count(where: like)
        }
    }
}
