// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import Gateway
@testable import LocalHTTP

/// The checks before a body is looked at, in their order. Addresses and answers are those that browsers were seen to send.
@Suite("The door")
struct DoorTests {
    static let now = Timestamp(milliseconds: 1_795_000_000_000)
    static let door = RequestGuard(addresses: ["127.0.0.1:8716"], origins: ["https://pos.example"])
    static let token: TillToken = {
        var zeros = Counting()
        return TillToken(till: "bar-1", using: &zeros)
    }()

    /// bar-1: cashier, lane main, purchases. bar-2: the same. display: one lane.
    static let book: TillRegistry = {
        var book = TillRegistry()
        let draft = TillDraft(
            till: "bar-1", roles: [.cashier], lanes: ["main"], types: [.purchase], origins: ["https://pos.example"])
        book.pair(draft, token, at: now)
        return book
    }()

    static func head(
        _ method: HTTPMethod = .get, _ path: String = "v1/status", host: String = "127.0.0.1:8716",
        token: String? = token.text,
        _ more: [(String, String)]
    ) -> RequestGuard.Head {
        var fields: HTTPFields = ["Host": host]
        if let token { fields.set("Authorization", "Bearer \(token)") }
        for (name, value) in more { fields.append(name, value) }
        return RequestGuard.Head(method, path.split(separator: "/").map(String.init), fields: fields)
    }

    static func head(
        _ method: HTTPMethod = .get, _ path: String = "v1/status", host: String = "127.0.0.1:8716",
        token: String? = token.text
    ) -> RequestGuard.Head { head(method, path, host: host, token: token, []) }

    static func head(_ more: [(String, String)]) -> RequestGuard.Head { head(.get, "v1/status", more) }

    /// - Returns: why it is refused; `nil` where it passes.
    static func refusal(_ head: RequestGuard.Head, _ door: RequestGuard = door) -> ErrorCode? {
        do throws(RequestGuard.Refusal) {
            _ = try door.admit(head, book, at: now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a till with its token passes under each name of the port`() throws {
        for host in ["127.0.0.1:8716", "localhost:8716", "[::1]:8716", "LocalHost:8716"] {
            #expect(Self.refusal(Self.head(host: host)) == nil, "\(host)")
        }
    }

    @Test(arguments: [
        "evil.example:8716", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.:8716", "127.1:8716", "0.0.0.0:8716",
        "127.0.0.1:8716:8716",
        "127.0.0.1:8716.evil.example", "[::ffff:127.0.0.1]:8716", " 127.0.0.1:8716x",
    ])
    func `a name that is not the gateway's is misdirected, before anything else is asked`(host: String) {
        #expect(Self.refusal(Self.head(host: host, [("Origin", "https://evil.example")])) == .hostRefused)
    }

    @Test func `no Host, two of them or an empty one are no request`() {
        var none = Self.head()
        none.fields = ["Authorization": "Bearer \(Self.token.text)"]
        #expect(Self.refusal(none) == .requestMalformed)
        #expect(Self.refusal(Self.head([("Host", "127.0.0.1:8716")])) == .requestMalformed)
        #expect(Self.refusal(Self.head(host: "")) == .requestMalformed)
    }

    @Test func `a page on the list passes, and so do the gateway's own`() {
        for origin in ["https://pos.example", "http://127.0.0.1:8716", "http://localhost:8716"] {
            #expect(Self.refusal(Self.head([("Origin", origin)])) == nil, "\(origin)")
            #expect(Self.door.sharedOrigin(Self.head([("Origin", origin)])) == origin)
        }
    }

    @Test(arguments: [
        "https://pos.example.evil.example", "null", "http://pos.example", "https://pos.example/",
        "https://pos.example:443",
        "https://POS.example", "http://127.0.0.1:8001", "*", "",
    ])
    func `any other page is refused, byte for byte`(origin: String) {
        let head = Self.head([("Origin", origin)])
        #expect(Self.refusal(head) == .originRefused)
        #expect(Self.door.sharedOrigin(head) == nil)
    }

    @Test func `two origins are none`() {
        let head = Self.head([("Origin", "https://pos.example"), ("Origin", "https://pos.example")])
        #expect(Self.refusal(head) == .originRefused)
    }

    @Test(arguments: ["cross-site", "same-site", "something"])
    func `a browser that comes from elsewhere without saying whence is refused`(site: String) {
        #expect(Self.refusal(Self.head([("Sec-Fetch-Site", site)])) == .originRefused)
        #expect(Self.refusal(Self.head([("Sec-Fetch-Site", site), ("Origin", "https://pos.example")])) == nil)
    }

    @Test func `an address that was typed in, and the gateway's own page, are no strangers`() {
        #expect(Self.refusal(Self.head([("Sec-Fetch-Site", "none")])) == nil)
        #expect(Self.refusal(Self.head([("Sec-Fetch-Site", "same-origin")])) == nil)
    }

    @Test func `a browser's question before the request needs no token, and a page on the list`() throws {
        let asked = Self.head(.options, "v1/transactions", token: nil, [("Origin", "https://pos.example")])
        #expect(try Self.door.admit(asked, Self.book, at: Self.now) == .preflight)
        let stranger = Self.head(.options, "v1/transactions", token: nil, [("Origin", "https://evil.example")])
        #expect(Self.refusal(stranger) == .originRefused)
    }

    @Test(arguments: [
        "v1/nothing", "v1/terms/acceptance", "v1/queue/batches", "v1/queue/batches/1/resolve", "v1/till/more/still",
        "v1",
        "v1/refusals", "v1/open-items/1/settlement", "v1/operations/1/resolution",
    ])
    func `what no till has any business with is not there`(path: String) {
        #expect(Self.refusal(Self.head(.get, path)) == .requestUnknownPath)
        #expect(Self.refusal(Self.head(.post, path, [("Content-Type", "application/json")])) == .requestUnknownPath)
    }

    @Test func `a method that the path does not have is refused with those that it has`() {
        do throws(RequestGuard.Refusal) {
            _ = try Self.door.admit(Self.head(.put, "v1/transactions"), Self.book, at: Self.now)
            Issue.record("admitted")
        } catch {
            #expect(error.code == .requestMethodNotAllowed && error.allowedMethods == ["GET", "POST", "DELETE"])
        }
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "",
    ])
    func `what a form of any page can send is refused, whatever it says`(type: String) {
        let head = Self.head(.post, "v1/transactions", [("Content-Type", type), ("Content-Length", "2")])
        #expect(Self.refusal(head) == .requestNotJSON)
    }

    @Test func `JSON may have parameters, and a call without a body needs no type`() {
        for type in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
            #expect(Self.refusal(Self.head(.post, "v1/transactions", [("Content-Type", type)])) == nil)
        }
        #expect(Self.refusal(Self.head(.post, "v1/transactions/1/confirmation", [("Content-Length", "0")])) == nil)
        #expect(Self.refusal(Self.head(.post, "v1/transactions", [("Content-Length", "2")])) == .requestNotJSON)
    }

    @Test(arguments: ["NFC-Tap-On-Behalf-Of", "nfc-tap-roles"])
    func `a client that names a till itself is refused and never corrected`(name: String) {
        #expect(Self.refusal(Self.head([(name, "bar-2")])) == .requestInvalidParameter)
    }

    @Test func `a token that is missing, wrong, foreign or doubled is unknown`() {
        let other = String(Self.token.text.dropLast()) + "A"
        for token in [nil, "", "nt1.bar-2." + Self.token.text.suffix(43), other, Self.token.text + " "] {
            #expect(Self.refusal(Self.head(token: token)) == .tokenUnknown, "\(token ?? "none")")
        }
        #expect(Self.refusal(Self.head([("Authorization", "Bearer \(Self.token.text)")])) == .tokenUnknown)
        var basic = Self.head(token: nil)
        basic.fields.set("Authorization", "Basic \(Self.token.text)")
        #expect(Self.refusal(basic) == .tokenUnknown)
    }

    @Test func `a token in the address is none`() {
        var head = Self.head(token: nil)
        head.query = [
            .init(name: "token", value: Self.token.text), .init(name: "access_token", value: Self.token.text),
        ]
        #expect(Self.refusal(head) == .tokenUnknown)
    }

    @Test func `a till of programs does not speak from others' pages, and one of a page does`() {
        var book = TillRegistry()
        book.pair(TillDraft(till: "bar-1", roles: [.cashier], lanes: ["main"]), Self.token, at: Self.now)
        func refusal(_ origin: String) -> ErrorCode? {
            do throws(RequestGuard.Refusal) {
                _ = try Self.door.admit(Self.head([("Origin", origin)]), book, at: Self.now)
                return nil
            } catch { return error.code }
        }
        #expect(refusal("https://pos.example") == .tokenUnknown)
        #expect(refusal("http://127.0.0.1:8716") == nil)
    }

    @Test func `a refused token names the till that it claims only where there is one`() {
        func till(_ token: String) -> String? {
            do throws(RequestGuard.Refusal) {
                _ = try Self.door.admit(Self.head(token: token), Self.book, at: Self.now)
                return "admitted"
            } catch { return error.till }
        }
        #expect(till("nt1.bar-1." + String(repeating: "A", count: 43)) == "bar-1")
        #expect(till("nt1.bar-9." + String(repeating: "A", count: 43)) == nil)
    }

    @Test func `lanes of the path and of the query are the till's own`() {
        #expect(Self.refusal(Self.head(.get, "v1/lanes/main")) == nil)
        #expect(Self.refusal(Self.head(.get, "v1/lanes/other")) == .laneNotYours)
        #expect(
            Self.refusal(Self.head(.post, "v1/lanes/other/prepare", [("Content-Type", "application/json")]))
                == .laneNotYours)
        var list = Self.head(.get, "v1/transactions")
        list.query = [.init(name: "lane", value: "other")]
        #expect(Self.refusal(list) == .laneNotYours)
    }

    @Test(arguments: [
        (TillRole.display, "v1/display", true), (.display, "v1/till", true), (.display, "v1/events", false),
        (.display, "v1/status", false), (.display, "v1/transactions", false), (.monitor, "v1/status", true),
        (.monitor, "v1/events", true), (.monitor, "v1/transactions", false), (.monitor, "v1/display", false),
        (.monitor, "v1/queue", false), (.loyalty, "v1/transactions", true), (.loyalty, "v1/totals", false),
        (.loyalty, "v1/events", true), (.cashier, "v1/totals", true), (.cashier, "v1/display", false),
        (.cashier, "v1/transactions/1/receipt", true), (.loyalty, "v1/transactions/1/receipt", false),
        (.cashier, "v1/days", true), (.manager, "v1/days", true), (.manager, "v1/totals", true),
        (.manager, "v1/transactions", true), (.manager, "v1/display", false), (.monitor, "v1/days", false),
    ])
    func `each role has its calls and no others`(role: TillRole, path: String, may: Bool) {
        var book = TillRegistry()
        book.pair(TillDraft(till: "bar-1", roles: [role], lanes: ["main"]), Self.token, at: Self.now)
        do throws(RequestGuard.Refusal) {
            _ = try Self.door.admit(Self.head(.get, path), book, at: Self.now)
            #expect(may)
        } catch {
            #expect(!may && error.code == .authRoleMissing && error.till == "bar-1")
        }
    }

    @Test("N2: a till cancels by its own key, whoever may begin something", arguments: TillRole.allCases)
    func cancelByKey(role: TillRole) {
        var book = TillRegistry()
        book.pair(TillDraft(till: "bar-1", roles: [role], lanes: ["main"]), Self.token, at: Self.now)
        var head = Self.head(.delete, "v1/transactions")
        head.query = [.init(name: "key", value: "A-17.1")]
        do throws(RequestGuard.Refusal) {
            guard case .call(.passOn, _, _) = try Self.door.admit(head, book, at: Self.now) else {
                Issue.record("not passed on")
                return
            }
            #expect([.cashier, .loyalty, .manager].contains(role))
        } catch {
            #expect([.display, .monitor].contains(role) && error.code == .authRoleMissing)
        }
    }

    @Test("D7: a day is closed by a manager's till and by no other", arguments: TillRole.allCases)
    func endOfDay(role: TillRole) {
        var book = TillRegistry()
        book.pair(TillDraft(till: "bar-1", roles: [role], lanes: ["main"]), Self.token, at: Self.now)
        do throws(RequestGuard.Refusal) {
            let json = [("Content-Type", "application/json")]
            _ = try Self.door.admit(Self.head(.post, "v1/days", json), book, at: Self.now)
            #expect(role == .manager)
        } catch {
            #expect(role != .manager && error.code == .authRoleMissing && error.till == "bar-1")
        }
    }

    @Test func `one refusal comes before the other, in the order of the checks`() {
        // Each step cures what was refused before.
        var fields: [(String, String)] = [("Origin", "https://evil.example"), ("Content-Type", "text/plain")]
        func code(_ host: String, _ path: String, token: String?) -> ErrorCode? {
            Self.refusal(Self.head(.post, path, host: host, token: token, fields))
        }
        #expect(code("evil.example", "v1/nothing", token: nil) == .hostRefused)
        #expect(code("127.0.0.1:8716", "v1/nothing", token: nil) == .originRefused)
        fields[0].1 = "https://pos.example"
        #expect(code("127.0.0.1:8716", "v1/nothing", token: nil) == .requestUnknownPath)
        #expect(code("127.0.0.1:8716", "v1/lanes/other/prepare", token: nil) == .requestNotJSON)
        fields[1].1 = "application/json"
        #expect(code("127.0.0.1:8716", "v1/lanes/other/prepare", token: nil) == .tokenUnknown)
        #expect(code("127.0.0.1:8716", "v1/lanes/other/prepare", token: Self.token.text) == .laneNotYours)
        #expect(code("127.0.0.1:8716", "v1/lanes/main/prepare", token: Self.token.text) == nil)
    }

    @Test func `pages are for everybody who asks by the right name, and localhost is sent to the address`() throws {
        #expect(try Self.door.admit(Self.head(.get, "till/till.js", token: nil), Self.book, at: Self.now) == .page)
        let other = Self.head(.get, "till/a b", host: "localhost:8716", token: nil)
        #expect(try Self.door.admit(other, Self.book, at: Self.now) == .redirect("http://127.0.0.1:8716/till/a%20b"))
        #expect(Self.refusal(Self.head(.post, "till/till.js", token: nil)) == .requestMethodNotAllowed)
    }

    @Test func `a proxy's name is an origin with TLS, and never without`() {
        let door = RequestGuard(addresses: ["127.0.0.1:8716"], names: ["tills.shop.example"])
        let head = Self.head(host: "tills.shop.example", [("Origin", "https://tills.shop.example")])
        #expect(Self.refusal(head, door) == nil)
        let plain = Self.head(host: "tills.shop.example", [("Origin", "http://tills.shop.example")])
        #expect(Self.refusal(plain, door) == .originRefused)
        #expect(Self.refusal(Self.head(host: "tills.shop.example:8716"), door) == .hostRefused)
    }
}

/// 0, 1, 2 … one byte after the other.
struct Counting: RandomNumberGenerator {
    private var last: UInt8 = 0

    mutating func next() -> UInt64 {
        defer { last &+= 1 }
        return UInt64(last)
    }
}
