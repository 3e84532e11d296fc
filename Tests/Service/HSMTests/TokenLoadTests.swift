// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Synchronization
import Testing

@testable import HSM

/// Slow tokens, and keys that are gone.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TokenLoadTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("S6: what would be given up before its turn is refused at once", arguments: [1, 8])
    func refusedEarly(sessions: Int) throws {
        var load = TokenLoad(sessions: sessions)
        func admitted() -> Int {
            (0..<1_000).prefix { _ in load.admit(most: 1_000, limit: Self.second) != nil }.count
        }
        // As long as nothing is known of the token, as many as may wait.
        for session in 0..<sessions {
            #expect(load.admit(most: 1_000, limit: Self.second) == session)
        }
        for session in 0..<sessions { load.end(session, after: 50_000_000) }
        // Twenty behind one that takes 50 ms have a second.
        #expect(admitted() == 21 * sessions)
        #expect(load.admit(most: 1_000, limit: Self.second) == nil)
        // One that nobody waits for any more gives its place back, and says nothing of the token.
        load.end(0, after: nil)
        #expect(load.admit(most: 1_000, limit: Self.second) == 0)
    }

    @Test("S6: a token that has become fast again is believed")
    func fastAgain() throws {
        var load = TokenLoad(sessions: 1)
        #expect(load.admit(most: 10, limit: Self.second) == 0)
        load.end(0, after: 5 * Self.second)
        // Alone it is always tried.
        for _ in 0..<40 {
            #expect(load.admit(most: 10, limit: Self.second) == 0)
            load.end(0, after: 1_000)
        }
        #expect(load.admit(most: 10, limit: Self.second) == 0)
        #expect(load.admit(most: 10, limit: Self.second) == 0)
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
        await #expect(throws: TokenError.unknownKey("old")) { _ = try await none.usableRecipients() }
    }
}

/// What was told, in its order.
private final class Labels: Sendable {
    private let state = Mutex<[String]>([])

    func add(_ label: String) { state.withLock { $0.append(label) } }
    var all: [String] { state.withLock { $0 } }
}
