// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HSM

/// Slow tokens, and keys that are gone.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TokenLoadTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("S6: what would be given up before its turn is refused at once", arguments: [1, 8])
    func refusedEarly(sessions: Int) throws {
        var load = TokenLoad<Int>(sessions: sessions)
        // Calls of 1 ms between those of 50 ms make an envelope's turn no nearer.
        for _ in 0..<100 {
            load.note(.first, took: 50_000_000)
            load.note(.following, took: 1_000_000)
        }
        for session in 0..<sessions {
            #expect(load.admit(0, .first, most: 1_000, limit: Self.second) == .begins(session))
        }
        let waiting = (1...1_000).prefix { load.admit($0, .first, most: 1_000, limit: Self.second) == .waits }.count
        // Twenty behind one that takes 50 ms have a second.
        #expect(waiting == 20 * sessions - (sessions - 1))
        #expect(load.admit(0, .first, most: 1_000, limit: Self.second) == .refused)
        // What continues a payment is not kept from its end.
        #expect(load.admit(0, .following, most: 1_000, limit: Self.second) == .waits)
        #expect(load.admit(0, .following, most: waiting, limit: Self.second) == .refused)
        // One that was begun gives its place to the next one.
        #expect(load.next(for: 0)?.kind == .following)
        #expect(load.next(for: 0)?.job == 1)
        #expect(load.admit(0, .first, most: 1_000, limit: Self.second) == .waits)
    }

    @Test("S6: a token that has become fast again is believed")
    func fastAgain() throws {
        var load = TokenLoad<Int>(sessions: 1)
        #expect(load.admit(0, .first, most: 10, limit: Self.second) == .begins(0))
        load.note(.first, took: 5 * Self.second)
        #expect(load.admit(0, .first, most: 10, limit: Self.second) == .refused)
        // Alone it is always tried.
        #expect(load.next(for: 0) == nil)
        for _ in 0..<40 {
            #expect(load.admit(0, .first, most: 10, limit: Self.second) == .begins(0))
            load.note(.first, took: 1_000)
            #expect(load.next(for: 0) == nil)
        }
        #expect(load.admit(0, .first, most: 10, limit: Self.second) == .begins(0))
        #expect(load.admit(0, .first, most: 10, limit: Self.second) == .waits)
    }

    /// A token with eight sessions and 50 ms an envelope, in virtual time. A till pays, rests for 100 ms, and pays again; what is refused asks again after a second.
    @Test("S29: two hundred tills get from a slow token what a hundred get, and no envelope is opened for nothing")
    func moreTills() {
        let (hundred, twice) = (SlowToken.run(tills: 100), SlowToken.run(tills: 200))
        // 160 a second.
        #expect(hundred.paid >= 9_000 && twice.paid * 100 >= hundred.paid * 95, "\(hundred), \(twice)")
        #expect(hundred.refused == 0 && twice.refused == 0, "\(hundred), \(twice)")
        #expect(hundred.wasted == 0 && twice.wasted == 0, "\(hundred), \(twice)")
    }

    @Test("S6: work that nobody waits for any more is left")
    func left() async throws {
        let worker = try TokenWorker(try TokenAccess(try SoftToken().settings()), number: 1)
        let (result, time): (Result<Int, TokenError>, UInt64?) = await withCheckedContinuation { continuation in
            worker.perform(while: { false }) { (_) throws(TokenFailure) -> Int in
                Issue.record("it was done")
                return 1
            } _: {
                continuation.resume(returning: ($0, $1))
            }
        }
        #expect(result == .failure(.unavailable(.abandoned)) && time == nil)
    }

    /// One session, which is held: what waits goes by its kind, and what nobody waits for any more is passed over.
    @Test("S29: what continues a payment goes before what begins one")
    func order() {
        var load = TokenLoad<String>(sessions: 1)
        #expect(load.admit("a", .first, most: 9, limit: Self.second) == .begins(0))
        for (job, kind) in [("b", TokenLoad<String>.Kind.first), ("c", .following), ("d", .first), ("e", .following)] {
            #expect(load.admit(job, kind, most: 9, limit: Self.second) == .waits)
        }
        var order: [String] = []
        while let next = load.next(for: 0) { order.append(next.job) }
        #expect(order == ["c", "e", "b", "d"])
        #expect(load.admit("f", .following, most: 9, limit: Self.second) == .begins(0))
    }

    /// The only session is busy. What begins a payment, and what continues one, wait there as what they are.
    @Test("S29: envelopes wait for a token as what begins a payment, seals and names of cards as what continues one")
    func kinds() async throws {
        let soft = try PaymentToken(patience: .seconds(600))
        try await soft.whileBusy { token, envelopes, begin in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, envelope) in envelopes.enumerated() {
                    group.addTask {
                        if number < 2 {
                            _ = try await token.open(envelope)
                        } else {
                            _ = try await token.open(envelope) { $0 }
                        }
                    }
                }
                group.addTask { _ = try await token.seal(SecretBytes([1]), for: "row") }
                group.addTask { _ = try await token.code(of: SecretBytes([1])) }
                try await eventually("six calls that wait") {
                    let waiting = token.load.withLock { $0.waiting }
                    return waiting.first + waiting.following == 6
                }
                let waiting = token.load.withLock { $0.waiting }
                #expect(waiting.first == 4 && waiting.following == 2)
                begin()
                try await group.waitForAll()
            }
        }
    }

    /// The time of a call in the token is over, and with it that of a seal which waits.
    @Test("S29: an envelope that waits is not given up with the seals, nor one whose turn has come")
    func turns() async throws {
        let soft = try PaymentToken(patience: .milliseconds(50))
        try await soft.whileBusy { token, envelopes, begin in
            async let opened = token.open(envelopes[0])
            try await eventually("an envelope that waits") { token.load.withLock { $0.waiting.first } == 1 }
            await #expect(throws: TokenError.unavailable(.busy)) { try await token.seal(SecretBytes([1]), for: "row") }
            begin()
            // On a machine that has no time for it the call itself may take too long.
            do { _ = try await opened } catch { #expect(error as? TokenError == .unavailable(.tooSlow)) }
        }
        // The last envelope's own turn comes before its time to wait is over, and its work ends after it.
        let first = FirstAnswer<Int>()
        #expect(first.begin())
        first.give(1, unlessBegun: true)
        #expect(first.isOpen)
        first.give(2)
        #expect(await first.value() == 2)
        let late = FirstAnswer<Int>()
        late.give(3, unlessBegun: true)
        #expect(!late.begin())
        #expect(await late.value() == 3)
    }

    /// PKCS#11: a maker that says nothing of CKA_SENSITIVE leaves it to the token, and SoftHSM then says no.
    @Test("S2: a key of the token without CKA_SENSITIVE is told once, and works")
    func openKey() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop", id: "01")
        try soft.tool(["--keygen", "--key-type", "GENERIC:32", "--label", "names", "--id", "02", "--usage-sign"])
        let told = Labels()
        let token = try Token(
            soft.settings {
                $0.recipients = [TokenKey(label: "shop")]
                $0.cardTokens = TokenKey(label: "names", kind: .secret)
                $0.sessions = 3
                $0.noteOpenKey = { told.add($0) }
            })
        var codes: Set<[UInt8]> = []
        await withTaskGroup(of: [UInt8]?.self) { group in
            for _ in 0..<12 { group.addTask { try? await token.code(of: SecretBytes([1])) } }
            for await code in group { codes.insert(code ?? []) }
        }
        #expect(codes.count == 1 && codes.first?.count == 32)
        #expect(told.all == ["names"])
        try await token.prove()
    }

    @Test("S6: one key that is destroyed leaves the others as they are, and is named")
    func oneKeyGone() async throws {
        let soft = try SoftToken()
        try soft.makeKey("new", id: "01")
        try soft.makeKey("old", id: "02")
        let token = try Token(
            soft.settings { $0.recipients = [TokenKey(label: "new"), TokenKey(label: "old")] })
        #expect(try await token.usableRecipients().keys.keys.map(\.keyID) == ["new", "old"])
        try soft.tool(["--delete-object", "--type", "privkey", "--label", "old"])
        let changed = try Token(
            soft.settings { $0.recipients = [TokenKey(label: "new"), TokenKey(label: "old")] })
        let (keys, faults) = try await changed.usableRecipients()
        #expect(keys.keys.map(\.keyID) == ["new"])
        #expect(faults == [.unknownKey("old")])
        // Whoever signs a set of keys wants all of them.
        await #expect(throws: TokenError.unknownKey("old")) { try await changed.recipients() }
        let none = try Token(soft.settings { $0.recipients = [TokenKey(label: "old")] })
        await #expect(throws: TokenError.unfitKey("old", .missing)) { _ = try await none.usableRecipients() }
    }

    /// docs/service/keys-and-token.md, Keys: a payment service that was begun with its recipient key alone.
    @Test(
        "S32: without the key that names cards, one of the books or one for messages no envelope is opened, and the key is named"
    )
    func ownKeyMissing() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop")
        func token() throws -> Token {
            try Token(
                soft.settings {
                    $0.recipients = [TokenKey(label: "shop")]
                    $0.cardTokens = TokenKey(label: "names", kind: .secret)
                    $0.needed = MessageKey.cmac(label: "mac").tokenKeys
                    $0.books = "books-"
                })
        }
        let key = try #require(try await token().recipients().keys.first)
        let envelope = try JWE.seal(SecretBytes([7]), to: key)
        for (missing, label, type, use) in [
            ("names", "names", "GENERIC:32", "--usage-sign"), ("mac", "mac", "AES:16", "--usage-sign"),
            // The newest that will do: of the month in which nothing is later.
            ("books-9999-12", "books-2026-11", "AES:32", "--usage-decrypt"),
        ] {
            let wanted = TokenError.unfitKey(missing, .missing)
            let token = try token()
            await #expect(throws: wanted) { _ = try await token.usableRecipients() }
            await #expect(throws: wanted) { _ = try await token.open(envelope) { $0 } }
            try soft.tool(["--keygen", "--key-type", type, "--label", label, use, "--sensitive"])
        }
        let whole = try token()
        #expect(try await whole.usableRecipients().keys.keys.map(\.keyID) == ["shop"])
        #expect(try await whole.open(envelope) { $0 }.code?.count == 32)
        // What an envelope or a row names is another thing.
        let other = try Token(soft.settings { $0.books = "books-" })
        await #expect(throws: TokenError.unknownKey("shop")) { try await other.open(envelope) }
        #expect(MessageKey.retail(label: "mac").tokenKeys.map(\.label) == ["mac", "mac-left"])
    }
}

/// Tills before a token in virtual time, by the rules of `Token`: milliseconds, a minute of them.
private struct SlowToken {
    private struct Call {
        let till: Int
        let kind: TokenLoad<Int>.Kind
        let came: Int
    }

    private(set) var (paid, refused, wasted) = (0, 0, 0)

    static func run(tills: Int) -> SlowToken {
        var told = SlowToken()
        // As a token has them where nobody says otherwise.
        let settings = TokenSettings(module: "", token: "", pin: SecretBytes([]))
        let (turn, patience) = (Patience(settings.wait).nanoseconds, Patience(settings.limit).nanoseconds)
        let million: UInt64 = 1_000_000
        var load = TokenLoad<Int>(sessions: 8)
        var calls: [Call] = []
        // When who does what: a till asks, a session is done.
        var asks: [Int: [Int]] = [0: Array(0..<tills)]
        var seals: [Int: [Int]] = [:]
        var ends: [Int: [(session: Int, call: Int)]] = [:]
        func begin(_ call: Int, _ session: Int, _ now: Int) {
            ends[now + (calls[call].kind == .first ? 50 : 1), default: []].append((session, call))
        }
        for now in 0..<60_000 {
            for (session, done) in ends.removeValue(forKey: now) ?? [] {
                let call = calls[done]
                load.note(call.kind, took: call.kind == .first ? 50_000_000 : 1_000_000)
                if call.kind == .first {
                    // The books are asked meanwhile.
                    seals[now + 5, default: []].append(call.till)
                } else {
                    told.paid += 1
                    asks[now + 100, default: []].append(call.till)
                }
                while let next = load.next(for: session) {
                    let waited = now - calls[next.job].came
                    guard UInt64(waited) * million <= (next.kind == .first ? turn : patience) else {
                        // Its envelope was opened, and its payment is not made.
                        if next.kind == .following { told.wasted += 1 } else { told.refused += 1 }
                        asks[now + 1_000, default: []].append(calls[next.job].till)
                        continue
                    }
                    begin(next.job, session, now)
                    break
                }
            }
            let new =
                (asks.removeValue(forKey: now) ?? []).map { ($0, TokenLoad<Int>.Kind.first) }
                + (seals.removeValue(forKey: now) ?? []).map { ($0, .following) }
            for (till, kind) in new {
                calls.append(Call(till: till, kind: kind, came: now))
                switch load.admit(calls.count - 1, kind, most: settings.mostWaiting, limit: turn) {
                case .begins(let session): begin(calls.count - 1, session, now)
                case .waits: break
                case .refused:
                    if kind == .following { told.wasted += 1 } else { told.refused += 1 }
                    asks[now + 1_000, default: []].append(till)
                }
            }
        }
        return told
    }
}

/// A token with the keys of a payment service, and one session.
private struct PaymentToken {
    private let token: Token
    private let envelopes: [String]

    /// - Parameter patience: for a call, and for what follows an opened envelope; envelopes wait for ten minutes.
    init(patience: Duration) throws {
        let soft = try SoftToken()
        try soft.makeKey("shop")
        for (label, type, use) in [
            ("names", "GENERIC:32", "--usage-sign"), ("books-2026-11", "AES:32", "--usage-decrypt"),
        ] {
            try soft.tool(["--keygen", "--key-type", type, "--label", label, use, "--sensitive"])
        }
        token = try Token(
            soft.settings {
                $0.recipients = [TokenKey(label: "shop")]
                $0.cardTokens = TokenKey(label: "names", kind: .secret)
                $0.books = "books-"
                $0.sessions = 1
                $0.wait = .seconds(600)
                $0.limit = patience
            })
        let der = try soft.tool(["--read-object", "--type", "pubkey", "--label", "shop"])
        // SubjectPublicKeyInfo ends with the point (RFC 5480 §2.2).
        let (x, y) = (Base64URL.string(Array(der.suffix(64).prefix(32))), Base64URL.string(Array(der.suffix(32))))
        let key = try RecipientKey(
            jwk: Array(#"{"crv":"P-256","kid":"shop","kty":"EC","use":"enc","x":"\#(x)","y":"\#(y)"}"#.utf8))
        envelopes = try (0..<4).map { _ in try JWE.seal(SecretBytes([7]), to: key) }
    }

    /// Runs `body` while the session works for somebody else, until `body` says that it shall be free.
    func whileBusy(_ body: (Token, [String], _ begin: () -> Void) async throws -> Void) async throws {
        let (isHeld, isFree, token) = (Flag(), Flag(), token)
        let holder = Task {
            try? await token.run { (_) throws(TokenFailure) in
                isHeld.raise()
                while !isFree.isUp { usleep(1_000) }
            }
        }
        defer { isFree.raise() }
        try await eventually("the session is busy") { isHeld.isUp }
        try await body(token, envelopes) { isFree.raise() }
        await holder.value
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)

    func raise() { state.withLock { $0 = true } }
    var isUp: Bool { state.withLock { $0 } }
}

/// What was told, in its order.
private final class Labels: Sendable {
    private let state = Mutex<[String]>([])

    func add(_ label: String) { state.withLock { $0.append(label) } }
    var all: [String] { state.withLock { $0 } }
}
