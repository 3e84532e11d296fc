// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import CardBytes
import Envelope
import Foundation
import HSM
import TestSupport
import Testing

/// What keys and tokens do that go away, on SoftHSM 2.6.1. The module's state belongs to the process, so one test runs at a time.
@Suite(.serialized)
struct TokenLossTests {
    /// The module's number in this process, by which a test can do to it what somebody else would.
    func module() throws -> Int32 {
        var number: Int32 = -1
        try #require(unsafe cpkcs11_open(SoftToken.module, &number) == CKR_OK)
        return number
    }

    func slot(_ label: String) throws -> CK_SLOT_ID {
        var slot: CK_SLOT_ID = 0
        let name = Array(label.utf8)
        try #require(unsafe cpkcs11_find_slot(module(), name, name.count, &slot) == CKR_OK)
        return slot
    }

    func opened(_ soft: SoftToken, sessions: Int = 2) async throws -> (Token, String) {
        try soft.makeKey("shop")
        let token = try Token(
            soft.settings {
                $0.recipients = [TokenKey(label: "shop")]
                $0.sessions = sessions
            })
        // A test before this one may have ended the module.
        let key = try await eventually("the token") {
            do { return try await token.recipients().keys.first } catch TokenError.unavailable { return nil }
        }
        return (token, try JWE.seal(SecretBytes(text: "again"), to: key))
    }

    @Test func `sessions that are closed under it are opened again in the same call`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft)
        for _ in 0..<3 {
            #expect(try await token.open(envelope).text == "again")
            #expect(try cpkcs11_close_all_sessions(module(), slot(soft.label)) == CKR_OK)
        }
        #expect(try await token.open(envelope).text == "again")
    }

    @Test func `a login that ends under it is made again`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft)
        #expect(try await token.open(envelope).text == "again")
        var session: CK_SESSION_HANDLE = 0
        #expect(unsafe try cpkcs11_open_session(module(), slot(soft.label), 0, &session) == CKR_OK)
        #expect(try cpkcs11_logout(module(), session) == CKR_OK)
        #expect(try await token.open(envelope).text == "again")
    }

    @Test func `a module that is ended under it is begun again`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft)
        #expect(try cpkcs11_finalize(module()) == CKR_OK)
        // Not more often than once a second, and then it is there.
        try await eventually("the module") {
            do { return try await token.open(envelope).text == "again" } catch TokenError.unavailable { return false }
        }
    }

    @Test func `a token that is taken away is a loss, and it is used again when it is back`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft, sessions: 1)
        #expect(try await token.open(envelope).text == "again")
        let (here, away) = try (SoftToken.tokens, SoftToken.file("away"))
        try FileManager.default.moveItem(at: here, to: away)
        try FileManager.default.createDirectory(at: here, withIntermediateDirectories: true)
        // SoftHSM looks at its folder when it begins.
        #expect(try cpkcs11_finalize(module()) == CKR_OK)
        for _ in 0..<3 {
            let error = await #expect(throws: TokenError.self) { try await token.open(envelope) }
            guard case .unavailable = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        try FileManager.default.removeItem(at: here)
        try FileManager.default.moveItem(at: away, to: here)
        try await eventually("the token") {
            do { return try await token.open(envelope).text == "again" } catch TokenError.unavailable { return false }
        }
    }

    @Test func `a wrong PIN is tried once`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop")
        let token = try Token(
            soft.settings {
                $0.module = SoftToken.spy
                $0.pin = SecretBytes(text: "9999")
                $0.sessions = 4
                $0.recipients = [TokenKey(label: "shop")]
            })
        let before = try SoftToken.calls().count { $0 == "C_Login" }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask { await #expect(throws: TokenError.pinRefused) { try await token.recipients() } }
            }
        }
        #expect(try SoftToken.calls().count { $0 == "C_Login" } == before + 1)
    }

    @Test func `a token that is not there and a module that is none are told apart`() async throws {
        let soft = try SoftToken()
        let token = try Token(
            soft.settings {
                $0.token = "nobody"
                $0.recipients = [TokenKey(label: "shop")]
            })
        try await eventually("the module's next beginning") {
            do throws(TokenError) {
                _ = try await token.recipients()
                return false
            } catch {
                return error == .unavailable(.noToken(label: "nobody"))
            }
        }
        let (other, envelope) = try await opened(soft)
        try await eventually("another token of the same module") {
            do { return try await other.open(envelope).text == "again" } catch TokenError.unavailable { return false }
        }
        let path = "/usr/lib/x86_64-linux-gnu/libc.so.6"
        #expect(throws: TokenError.unavailable(.module(path: path))) { try Token(soft.settings { $0.module = path }) }
    }

    @Test func `sessions that begin at the same time find the one key that there is`() async throws {
        let soft = try SoftToken()
        let (first, envelope) = try await opened(soft)
        await first.close()
        for _ in 0..<40 {
            let token = try Token(
                soft.settings {
                    $0.recipients = [TokenKey(label: "shop")]
                    $0.sessions = 8
                })
            let outcomes = await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        do throws(TokenError) { return try await token.open(envelope).text } catch { return "\(error)" }
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(outcomes == ["again"])
            await token.close()
        }
    }

    @Test func `two thousand envelopes from many tasks leave no object and no session`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft, sessions: 4)
        let opened = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    var count = 0
                    for _ in 0..<100 where try await token.open(envelope).text == "again" { count += 1 }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(opened == 2_000)
        var session: CK_SESSION_HANDLE = 0
        #expect(unsafe try cpkcs11_open_session(module(), slot(soft.label), 0, &session) == CKR_OK)
        defer { _ = try? cpkcs11_close_session(module(), session) }
        var object: CK_OBJECT_HANDLE = 0
        var count = 1
        let code = unsafe try cpkcs11_find(
            module(), session, CK_ULONG(CKO_SECRET_KEY), 0, [], 0, [], 0, &object, &count)
        #expect(code == CKR_OK && count == 0)
    }

    @Test func `more calls than may wait are refused, and all others answered`() async throws {
        let soft = try SoftToken()
        try soft.makeKey("shop")
        let token = try Token(
            soft.settings {
                $0.recipients = [TokenKey(label: "shop")]
                $0.sessions = 1
                $0.mostWaiting = 4
            })
        let key = try #require(await token.recipients().keys.first)
        let envelope = try JWE.seal(SecretBytes(text: "x"), to: key)
        let outcomes = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do throws(TokenError) { return try await token.open(envelope).text == "x" } catch {
                        return error == .unavailable(.busy) ? nil : false
                    }
                }
            }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        #expect(outcomes.contains(true) && outcomes.allSatisfy { $0 != false })
    }
}
