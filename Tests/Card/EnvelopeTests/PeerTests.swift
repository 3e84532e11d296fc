// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import Envelope

/// An independent program opens what we seal: joserfc (PyPI, BSD-3), run by python3.
struct PeerTests {
    private static let program = """
        import sys, json
        from joserfc import jwe
        from joserfc.jwk import import_key
        request = json.load(sys.stdin)
        opened = jwe.decrypt_compact(
            request["token"], import_key(request["key"]), algorithms=[request["alg"], "A256GCM"])
        sys.stdout.buffer.write(opened.plaintext)
        """

    /// Runs python3 with `input` on its standard input; `nil` where it cannot be started or fails.
    private static func python(_ program: String, input: Data = Data()) throws -> Data? {
        let run = try Peer.run(Peer.python, ["-c", program], input: input)
        return run.status == 0 ? run.bytes : nil
    }

    private static let missing: Comment = "python3 with joserfc 1.6.5 is missing: pip install joserfc==1.6.5"

    /// Whether the peer is there, or demanded (`NFC_TAP_REQUIRE_PEERS=1`), so that the test fails without it.
    private static func isToBeAsked() throws -> Bool {
        let isDemanded = ProcessInfo.processInfo.environment["NFC_TAP_REQUIRE_PEERS"] == "1"
        return try isDemanded || python("import joserfc") != nil
    }

    @Test(
        .enabled(missing) { try isToBeAsked() },
        arguments: [
            ("jwe-own-p256-ecdh-es", "ECDH-ES"), ("jwe-own-p256-ecdh-es", "ECDH-ES+A256KW"),
            ("jwe-own-x25519-ecdh-es", "ECDH-ES"), ("jwe-own-x25519-ecdh-es", "ECDH-ES+A256KW"),
            ("jwe-own-rsa-oaep-256", "RSA-OAEP-256"),
        ])
    func `joserfc opens what is sealed here`(id: String, algorithm: String) throws {
        let vector = try JOSEVector.load("own", id: id)
        let plaintext = #"{"v":1,"note":"ünïcode"}"#
        let token = try JWE.seal(SecretBytes(text: plaintext), to: vector.recipient(["alg": algorithm]))
        // joserfc takes an RSA key with all its members or with d alone.
        let key = try #require(vector.members["key"] as? [String: String]).filter { !["p", "q"].contains($0.key) }
        let request: [String: Any] = ["token": token, "key": key, "alg": algorithm]
        let opened = try Self.python(Self.program, input: JSONSerialization.data(withJSONObject: request))
        #expect(opened == Data(plaintext.utf8), Self.missing)
    }
}
