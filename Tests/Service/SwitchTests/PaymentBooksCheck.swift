// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import rig_tills

/// Holds three sides against each other: what tills believe, what the switch's books say, and what the acquirer has written down. The
/// acquirer's book is made by a program in another language, with another codec.
struct PaymentBooksCheck {
    private let rig: SwitchRig

    init(_ rig: SwitchRig) { self.rig = rig }

    /// One line of the acquirer's book.
    private struct Line: Decodable {
        let type: String
        let stan: String
        let time: String
        let amount: Int64
        let original: String?
        let code: String
        let value: Int64?
    }

    /// What the acquirer has of one message that asks for money.
    private struct Held {
        var times = 0
        var approved: Int64?
        var isReversed = false
    }

    private func acquirersBook() throws -> [String: Held] {
        var book: [String: Held] = [:]
        for text in try String(contentsOf: rig.book, encoding: .utf8).split(separator: "\n") {
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            switch line.type {
            case "0100", "0200":
                var held = book[line.stan + line.time] ?? Held()
                held.times += 1
                if ["00", "10"].contains(line.code), held.approved == nil { held.approved = line.value ?? line.amount }
                book[line.stan + line.time] = held
            case "0420", "0421":
                let original = line.original ?? ""
                book[String(original.dropFirst(4).prefix(16)), default: Held()].isReversed = true
            default: break
            }
        }
        return book
    }

    /// Nothing is open any more.
    func isQuiet() throws -> Bool {
        try rig.server.sql(
            """
            select (select count(*) from exchange where stage in ('awaiting', 'reversing', 'advising') or wanted is not null)
                + (select count(*) from payment where state in ('running', 'reversing'))
            """
        ).trimmingCharacters(in: .whitespacesAndNewlines) == "0"
    }

    /// - Parameter beliefs: of the tills, by id; none for those that were not asked.
    func holds(_ beliefs: [String: TestTill.Belief] = [:]) async throws {
        try await eventually("an end of everything open") {
            if try isQuiet() { return true }
            try await Task.sleep(for: .milliseconds(200))
            return false
        }
        let book = try acquirersBook()
        var known: Set<String> = []
        var ledger: [String: (state: String, card: Int64)] = [:]
        let rows = try rig.server.sql(
            """
            select p.id, p.state, x.trace || x.transmitted, coalesce((select -sum(e.amount) from entry e
                where e.payment = p.id and e.account = 'card' and e.seq = 1), 0),
                coalesce((select sum(e.amount) from entry e where e.payment = p.id), 0)
            from payment p left join exchange x on x.id = p.id
            """)
        for row in rows.split(separator: "\n") {
            let parts = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 5, let card = Int64(parts[3]) else {
                Issue.record("unreadable: \(row)")
                continue
            }
            ledger[parts[0]] = (parts[1], card)
            #expect(parts[4] == "0", "entries of \(parts[0])")
            guard !parts[2].isEmpty else {
                #expect(["declined", "void"].contains(parts[1]), "\(row)")
                continue
            }
            known.insert(parts[2])
            let held = book[parts[2]]
            #expect((held?.times ?? 0) <= 1, "sent twice: \(row)")
            let outstanding = held?.isReversed == true ? nil : held?.approved
            #expect((parts[1] == "approved") == (outstanding != nil), "\(row), acquirer: \(String(describing: held))")
            if let outstanding { #expect(outstanding == abs(card), "\(row)") }
        }
        let operations = try rig.server.sql("select trace || transmitted from exchange where id <> payment")
        known.formUnion(operations.split(separator: "\n").map(String.init))
        #expect(
            book.filter { $0.value.times > 0 && !known.contains($0.key) }.isEmpty,
            "the acquirer has what the books do not")
        for (id, belief) in beliefs {
            switch belief {
            case .approved(let value):
                #expect(ledger[id]?.state == "approved", "\(id) of \(belief)")
                #expect(ledger[id]?.card == value, "\(id) of \(belief)")
            case .declined, .reversed: #expect(ledger[id]?.state != "approved", "\(id) of \(belief)")
            }
        }
        let approved = beliefs.values.count { if case .approved = $0 { true } else { false } }
        if !beliefs.isEmpty { #expect(ledger.values.count { $0.state == "approved" } == approved) }
    }
}
