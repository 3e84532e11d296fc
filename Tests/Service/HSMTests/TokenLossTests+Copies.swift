// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import CardBytes
import Envelope
import Foundation
import HSM
import TestSupport
import Testing

/// Keys are worked with in copies that belong to a session.
extension TokenLossTests {
    /// Makes a pair on P-256 whose private half must not be copied, which its maker says once and for all (CKA_COPYABLE, 0x171).
    private static let making = """
        import sys, json, ctypes
        request = json.load(sys.stdin)
        module = ctypes.CDLL(request["module"])
        number = ctypes.c_ulong
        class Attribute(ctypes.Structure):
            _fields_ = [("type", number), ("value", ctypes.c_void_p), ("count", number)]
        def attribute(kind, value):
            kept = ctypes.create_string_buffer(value, len(value))
            return Attribute(kind, ctypes.cast(kept, ctypes.c_void_p), len(value)), kept
        def asked(name, *words):
            answer = getattr(module, name)(*words)
            assert answer == 0, f"{name}: {answer:x}"
        asked("C_Initialize", None)
        slots, room = (number * 256)(), number(256)
        asked("C_GetSlotList", ctypes.c_ubyte(1), slots, ctypes.byref(room))
        def label(slot):
            info = ctypes.create_string_buffer(512)
            asked("C_GetTokenInfo", number(slot), info)
            return info.raw[:32].decode().rstrip()
        slot = next(slot for slot in slots[:room.value] if label(slot) == request["token"])
        session, pin = number(), request["pin"].encode()
        asked("C_OpenSession", number(slot), number(6), None, None, ctypes.byref(session))
        asked("C_Login", session, number(1), pin, number(len(pin)))
        def template(*pairs):
            made = [attribute(kind, value) for kind, value in pairs]
            return (Attribute * len(made))(*(each[0] for each in made)), number(len(made)), made
        yes, no, name = b"\\1", b"\\0", request["label"].encode()
        public = template((1, yes), (3, name), (0x102, b"1"), (0x180, bytes.fromhex("06082A8648CE3D030107")))
        private = template(
            (1, yes), (2, yes), (3, name), (0x102, b"1"), (0x103, yes), (0x10C, yes), (0x162, no), (0x171, no))
        mechanism, pair = (number * 3)(0x1040, 0, 0), (number(), number())
        asked("C_GenerateKeyPair", session, mechanism, *public[:2], *private[:2], *map(ctypes.byref, pair))
        asked("C_Finalize", None)
        json.dump({"done": True}, sys.stdout)
        """

    /// The copies of private keys that sessions of this process have in a token.
    ///
    /// - Parameter look: handed each of them, with a session.
    @discardableResult private func copies(
        _ soft: SoftToken, _ look: (CK_SESSION_HANDLE, CK_OBJECT_HANDLE) throws -> Void = { _, _ in }
    ) throws -> Int {
        var session: CK_SESSION_HANDLE = 0
        try #require(unsafe cpkcs11_open_session(module(), slot(soft.label), 0, &session) == CKR_OK)
        defer { _ = try? cpkcs11_close_session(module(), session) }
        var objects = [CK_OBJECT_HANDLE](repeating: 0, count: 64)
        var count = objects.count
        let code = unsafe try cpkcs11_find(
            module(), session, CK_ULONG(CKO_PRIVATE_KEY), 0, [], 0, [], 0, &objects, &count)
        try #require(code == CKR_OK)
        for copy in objects.prefix(count) { try look(session, copy) }
        return count
    }

    @Test func `a key is worked with in a copy that stays in the token and ends with its session`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft, sessions: 1)
        for _ in 0..<3 { #expect(try await token.open(envelope).text == "again") }
        let count = try copies(soft) { session, copy in
            let module = try module()
            var (value, size, number) = ([UInt8](repeating: 0, count: 64), 64, CK_ULONG(7))
            let code = unsafe cpkcs11_bytes(module, session, copy, CK_ULONG(CKA_VALUE), &value, &size)
            #expect(code == CKR_ATTRIBUTE_SENSITIVE)
            for (attribute, wanted) in [(CKA_EXTRACTABLE, 0), (CKA_SENSITIVE, 1), (CKA_PRIVATE, 1)] {
                #expect(unsafe cpkcs11_number(module, session, copy, CK_ULONG(attribute), &number) == CKR_OK)
                #expect(number == CK_ULONG(wanted))
            }
            #expect(cpkcs11_destroy(module, session, copy) == CKR_OK)
        }
        #expect(count == 1)
        #expect(try copies(soft) == 0)
        // Whoever works with it notices that it has gone, and has made another one.
        #expect(try await token.open(envelope).text == "again")
        #expect(try copies(soft) == 1)
        await token.close()
        #expect(try copies(soft) == 0)
    }

    @Test func `envelopes that do not open leave no copies behind`() async throws {
        let soft = try SoftToken()
        let (first, envelope) = try await opened(soft, sessions: 1)
        await first.close()
        let token = try Token(
            soft.settings {
                $0.recipients = [TokenKey(label: "shop")]
                $0.cardTokens = TokenKey(label: "nobody", kind: .secret)
                $0.sessions = 1
            })
        for _ in 0..<20 {
            await #expect(throws: TokenError.unfitKey("nobody", .missing)) {
                try await token.open(envelope, codeOf: { $0 })
            }
        }
        // It was not begun.
        #expect(try copies(soft) == 0)
        let damaged = String(envelope.dropLast(2)) + (envelope.hasSuffix("AA") ? "QQ" : "AA")
        for _ in 0..<20 { await #expect(throws: TokenError.self) { try await first.open(damaged) } }
        #expect(try copies(soft) == 1)
    }

    @Test func `a token that forbids copies works with the key itself`() async throws {
        let soft = try SoftToken()
        // Begins the module, so that a test before this one does not matter.
        let (other, _) = try await opened(soft, sessions: 1)
        await other.close()
        _ = try SoftToken.python(
            Self.making, ["module": SoftToken.module, "token": soft.label, "pin": SoftToken.pin, "label": "own"])
        let token = try Token(soft.settings { $0.recipients = [TokenKey(label: "own")] })
        let key = try #require(await token.recipients().keys.first)
        let envelope = try JWE.seal(SecretBytes(text: "again"), to: key)
        for _ in 0..<20 { #expect(try await token.open(envelope).text == "again") }
        #expect(try copies(soft) == 0)
        try await token.prove()
        try soft.tool(["--delete-object", "--type", "privkey", "--label", "own"])
        await #expect(throws: TokenError.unknownKey("own")) { try await token.open(envelope) }
    }

    @Test func `a key that was removed stops working although it was copied, and a new one works`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft, sessions: 1)
        #expect(try await token.open(envelope).text == "again")
        for kind in ["privkey", "pubkey"] { try soft.tool(["--delete-object", "--type", kind, "--label", "shop"]) }
        // Within a second.
        try await eventually("the key's end") {
            do throws(TokenError) {
                _ = try await token.open(envelope)
                return false
            } catch {
                return error == .unknownKey("shop")
            }
        }
        #expect(try copies(soft) == 0)
        try soft.makeKey("shop")
        await #expect(throws: TokenError.envelope(.notAuthentic)) { try await token.open(envelope) }
        let new = try #require(await token.recipients().keys.first)
        #expect(try await token.open(JWE.seal(SecretBytes(text: "new"), to: new)).text == "new")
        #expect(try copies(soft) == 1)
    }

    @Test func `a key that is replaced between two envelopes is not used in its copy`() async throws {
        let soft = try SoftToken()
        let (token, envelope) = try await opened(soft, sessions: 1)
        #expect(try await token.open(envelope).text == "again")
        for kind in ["privkey", "pubkey"] { try soft.tool(["--delete-object", "--type", kind, "--label", "shop"]) }
        try soft.makeKey("shop")
        try await eventually("the old key's end") {
            do throws(TokenError) {
                _ = try await token.open(envelope)
                return false
            } catch {
                return error == .envelope(.notAuthentic)
            }
        }
        #expect(try copies(soft) == 1)
    }
}
