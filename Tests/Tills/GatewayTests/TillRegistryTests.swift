// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@testable import Gateway

@Suite("Tills and their tokens")
struct TillRegistryTests {
    private let now = DoorTests.now
    private let draft = TillDraft(till: "bar-1", roles: [.cashier], lanes: ["main"], types: [.purchase])

    private func token(_ till: String = "bar-1") -> TillToken {
        var system = SystemRandomNumberGenerator()
        return TillToken(till: till, using: &system)
    }

    /// base64url of the bytes 00 to 1F by RFC 4648 §5, and their SHA-256, both as Python's library has them.
    @Test func `a token is written and kept as the worked example says`() throws {
        var counting = Counting()
        let token = TillToken(till: "bar-1", using: &counting)
        #expect(token.text == "nt1.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
        #expect(token.hash == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd")
        #expect(TillToken(token.text) == token)
    }

    @Test(arguments: [
        "nt2.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "nt1.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9",
        "nt1.Bar.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "nt1.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "nt1.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+", "nt1.bar-1.",
        "nt1..AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "nt1.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8.x",
    ])
    func `a token has one form`(text: String) {
        #expect(TillToken(text) == nil)
    }

    @Test func `a till without a name gets the first number that no till ever had and none was promised`() {
        var book = TillRegistry()
        #expect(book.freeName("till", besides: []) == "till-1")
        for name in ["till-1", "till-3"] {
            book.pair(TillDraft(till: name, roles: [.cashier], lanes: ["main"]), token(name), at: now)
        }
        #expect(book.revoke("till-1", at: now) == true)
        #expect(book.freeName("till", besides: []) == "till-2")
        #expect(book.freeName("till", besides: ["till-2"]) == "till-4")
        #expect(book.freeName("display", besides: ["till-2"]) == "display-1")
    }

    @Test func `a token is its till's until the till is revoked, and the name is never paired again`() {
        var book = TillRegistry()
        let token = token()
        book.pair(draft, token, at: now)
        #expect(book.owner(of: token, at: now)?.till == "bar-1")
        #expect(book.revoke("bar-1", at: now) == true)
        #expect(book.revoke("bar-1", at: now) == false)
        #expect(book.owner(of: token, at: now) == nil)
        let other = self.token()
        #expect(!book.mayPair("bar-1"))
        book.pair(draft, other, at: now)
        #expect(book.owner(of: other, at: now) == nil)
        #expect(book.all.count == 1)
    }

    @Test func `a till that is paired anew keeps its name, and its old token ends`() {
        var book = TillRegistry()
        let (old, new) = (token(), token())
        book.pair(draft, old, at: now)
        book.pair(draft, new, at: now.advanced(bySeconds: 60))
        #expect(book.owner(of: old, at: now) == nil)
        #expect(book.owner(of: new, at: now)?.createdAt == now)
    }

    /// `|` and `^` bind alike in Swift: without brackets some hashes that differ were the same.
    @Test func `hashes that differ anywhere are never the same`() {
        #expect(TillToken.isSame("00", "00") && TillToken.isSame("", ""))
        for left in 0..<256 {
            for right in 0..<256 {
                let (one, other) = (TillRegistryTests.hexadecimal(left), TillRegistryTests.hexadecimal(right))
                #expect(TillToken.isSame(one, other) == (left == right), "\(one) \(other)")
            }
        }
    }

    private static func hexadecimal(_ value: Int) -> String {
        String(value >> 4, radix: 16) + String(value & 15, radix: 16)
    }

    @Test func `while a token is changed both hold, until the new one is used`() {
        var book = TillRegistry()
        let (old, lost, new) = (token(), token(), token())
        book.pair(draft, old, at: now)
        #expect(book.renew(new, at: now) == false, "nobody asked for it")
        #expect(book.rotate("bar-1") == true)
        #expect(book.renew(lost, at: now) == true)
        // The answer was lost, and the till asks again.
        #expect(book.renew(new, at: now) == true)
        #expect(book.owner(of: lost, at: now) == nil)
        #expect(book.owner(of: old, at: now) != nil && book.owner(of: new, at: now) != nil)
        #expect(book.used(old, at: now) == true)
        #expect(book.owner(of: new, at: now) != nil)
        #expect(book.used(new, at: now) == true)
        #expect(book.owner(of: old, at: now) == nil && book.owner(of: new, at: now) != nil)
        #expect(book.renew(token(), at: now) == false)
    }

    @Test func `a new token that was not used within a day is forgotten, and the till is told again`() {
        var book = TillRegistry()
        let (old, new) = (token(), token())
        book.pair(draft, old, at: now)
        _ = book.rotate("bar-1")
        _ = book.renew(new, at: now)
        let tomorrow = now.advanced(bySeconds: TillRegistry.overlap)
        #expect(book.owner(of: new, at: tomorrow) == nil)
        #expect(book.owner(of: old, at: tomorrow)?.rotating == true)
        _ = book.used(old, at: tomorrow)
        #expect(book.tills["bar-1"]?.next == nil && book.tills["bar-1"]?.rotating == true)
    }

    @Test func `use is written down once a day`() {
        var book = TillRegistry()
        let token = token()
        book.pair(draft, token, at: now)
        #expect(book.used(token, at: now) == true)
        #expect(book.used(token, at: now.advanced(bySeconds: 1)) == false)
        #expect(book.used(token, at: now.advanced(bySeconds: 86_400)) == true)
        #expect(book.tills["bar-1"]?.lastUsedOn?.count == 10)
    }

    @Test func `the file holds no token, and comes back as it was`() throws {
        var book = TillRegistry()
        let token = token()
        book.pair(draft, token, at: now)
        let bytes = try WireJSON.encode(book.all)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains(String(token.text.suffix(43))) && text.contains(token.hash))
        #expect(TillRegistry(try WireJSON.decode([Till].self, from: bytes)) == book)
    }

    @Test(arguments: ["", "1bar", "-bar", "Bar", "bar_1", "bär", String(repeating: "a", count: 33)])
    func `a till's name is plain`(name: String) {
        #expect(TillDraft(till: name, roles: [.cashier], lanes: ["main"]).fault(allowedOrigins: [])?.option == "till")
    }

    @Test func `a draft says what is missing`() {
        func fault(_ change: (inout TillDraft) -> Void) -> String? {
            var draft = self.draft
            change(&draft)
            return draft.fault(allowedOrigins: ["https://pos.example"])?.option
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0.roles = [] } == "role")
        #expect(fault { $0.roles = [.display, .cashier] } == "role")
        #expect(fault { $0.lanes = [] } == "lane")
        #expect(fault { $0.origins = ["https://evil.example"] } == "origin")
        #expect(fault { $0.origins = ["https://pos.example"] } == nil)
    }

    // MARK: - Rights

    private func refusal(
        _ text: String, lanes: [String] = ["main"], types: [TransactionType] = [.purchase],
        known: [KnownLane] = [KnownLane(name: "main", groups: []), KnownLane(name: "other", groups: ["all"])],
        role: TillRole = .cashier
    ) throws -> ErrorCode? {
        let request = try WireJSON.decode(TransactionRequest.self, from: Array(text.utf8))
        var book = TillRegistry()
        book.pair(TillDraft(till: "bar-1", roles: [role], lanes: lanes, types: types), token(), at: now)
        do throws(RequestGuard.Refusal) {
            try book.tills["bar-1"]?.checkRequest(request, known)
            return nil
        } catch { return error.code }
    }

    private static let amount = "\"amount\":{\"value\":1250,\"currency\":\"EUR\"}"

    @Test func `a refund of a payment needs a lane of the till where a card is read for it, and none otherwise`() throws
    {
        let refund = "{\"type\":\"refund\",\"of\":\"01a2037f-7168-7d2c-9e61-5263e834c583\""
        #expect(try self.refusal(refund + "}", types: [.refund]) == nil)
        #expect(try self.refusal(refund + ",\"card\":\"none\"}", types: [.refund]) == nil)
        for card in ["same", "any"] {
            let read = refund + ",\"reason\":\"return\",\"card\":\"\(card)\""
            #expect(try self.refusal(read + "}", types: [.refund]) == .requestMissingField)
            #expect(try self.refusal(read + ",\"lane\":\"main\"}", types: [.refund]) == nil)
            #expect(try self.refusal(read + ",\"lane\":\"other\"}", types: [.refund]) == .laneNotYours)
            #expect(try self.refusal(read + ",\"lanes\":[\"main\",\"other\"]}", types: [.refund]) == .laneNotYours)
            #expect(try self.refusal(read + ",\"group\":\"all\"}", types: [.refund]) == .laneNotYours)
        }
    }

    @Test("D7: a refund names its sale, unless a manager's till asks for it")
    func namedRefunds() throws {
        let free = "{\"type\":\"refund\",\(Self.amount),\"lane\":\"main\"}"
        let named = "{\"type\":\"refund\",\"of\":\"01a2037f-7168-7d2c-9e61-5263e834c583\"}"
        #expect(try refusal(free, types: [.refund]) == .authRoleMissing)
        #expect(try refusal(named, types: [.refund]) == nil)
        #expect(try refusal(free, types: [.refund], role: .manager) == nil)
        #expect(try refusal(named, types: [.refund], role: .manager) == nil)
        // Its role alone gives nobody a refund.
        #expect(try refusal(free, role: .manager) == .authRoleMissing)
        #expect(try refusal(named, role: .manager) == .authRoleMissing)
    }

    @Test("D7: to the daemon a manager is a cashier, who keeps the other roles")
    func managerAtDaemon() throws {
        for (roles, told) in [
            ([TillRole.manager], "cashier"), ([.manager, .cashier], "cashier"),
            ([.monitor, .manager], "cashier, monitor"),
            ([.loyalty], "loyalty"), ([.display], ""),
        ] {
            var book = TillRegistry()
            book.pair(TillDraft(till: "bar-1", roles: roles, lanes: ["main"]), token(), at: now)
            #expect(book.tills["bar-1"]?.rolesAtDaemon == told)
        }
    }

    @Test func `a till sells what it may, on its lanes`() throws {
        let amount = Self.amount
        #expect(try refusal("{\"type\":\"purchase\",\(amount)}", known: [KnownLane(name: "main", groups: [])]) == nil)
        #expect(try refusal("{\"type\":\"purchase\",\(amount),\"lane\":\"main\"}") == nil)
        #expect(try refusal("{\"type\":\"refund\",\(amount)}") == .authRoleMissing)
        #expect(try refusal("{\"type\":\"verification\",\"currency\":\"EUR\"}") == .authRoleMissing)
        #expect(try refusal("{\"type\":\"purchase\",\(amount),\"lane\":\"other\"}") == .laneNotYours)
        #expect(try refusal("{\"type\":\"purchase\",\(amount),\"lanes\":[\"main\",\"other\"]}") == .laneNotYours)
    }

    @Test func `a group needs every lane of it`() throws {
        let text = "{\"type\":\"purchase\",\(Self.amount),\"group\":\"all\"}"
        let known = [KnownLane(name: "main", groups: ["all"]), KnownLane(name: "other", groups: ["all"])]
        #expect(try refusal(text, known: known) == .laneNotYours)
        #expect(try refusal(text, lanes: ["main", "other"], known: known) == nil)
        #expect(try refusal(text, known: []) == .laneNotYours)
    }

    @Test func `without a lane a till gets none but its own`() throws {
        let text = "{\"type\":\"purchase\",\(Self.amount)}"
        // The daemon takes its first free lane: with main busy it would be another till's.
        #expect(try refusal(text) == .requestMissingField)
        #expect(try refusal(text, lanes: ["other"]) == .requestMissingField)
        #expect(try refusal(text, lanes: ["other", "main"]) == .requestMissingField)
        #expect(try refusal(text, lanes: ["main", "other"]) == nil)
    }
}
