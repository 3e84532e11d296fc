// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Journal
import TestSupport
import Testing

/// docs/examples/audit-chain.jsonl was made with Python's hashlib and joserfc: the second hand that our chain is held against.
@Suite("F7: the chain as the documents describe it")
struct AuditVectorTests {
    private func lines() throws -> [String] {
        try Checkout.text("docs/examples/audit-chain.jsonl").split(separator: "\n").map(String.init)
    }

    /// What is wrong with a chain, by our own verifier.
    private func faults(_ lines: [String]) throws -> [AuditFault] {
        var verifier: AuditVerifier?
        for (index, text) in lines.enumerated() {
            switch AuditLine(text) {
            case .installation(_, let jwk):
                verifier = AuditVerifier(key: try VerificationKey(jwk: Array(jwk.utf8)))
            case .statement(let token): verifier?.take(statement: token)
            case .link(let link): verifier?.take(link)
            case nil: verifier?.takeUnreadable(number: index + 1)
            }
        }
        var found = try #require(verifier)
        return found.finish()
    }

    /// The end and the words of docs/examples/check-audit.py on a chain.
    private func recompute(_ lines: [String]) throws -> Finished {
        try Peer.run(
            Peer.python, [Checkout.file("docs/examples/check-audit.py").path],
            input: Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    @Test func `F7 a chain that another program made and signed holds`() throws {
        let lines = try lines()
        #expect(lines.count == 6)
        #expect(try faults(lines) == [])
        #expect(lines.compactMap { AuditLine($0)?.text } == lines, "an export has the same lines")
    }

    @Test func `F7 the page's vector is the first hash of that chain, and the second`() throws {
        let page = try Checkout.text("docs/operating/audit.md")
        let hashes = try lines().compactMap { line -> String? in
            if case .link(let link) = AuditLine(line) { link.hash } else { nil }
        }
        #expect(hashes.count == 4)
        for hash in hashes.prefix(2) { #expect(page.contains("`\(hash)`")) }
    }

    @Test func `F7 the page's Python finds what our own verifier finds`() throws {
        let lines = try lines()
        let whole = try recompute(lines)
        #expect(whole.status == 0 && whole.said == "chain holds up to entry 4, signed up to 3\n")
        var altered = lines
        altered[3] = altered[3].replacing("1250 EUR", with: "1251 EUR")
        var moved = lines
        moved.swapAt(3, 4)
        var removed = lines
        removed.remove(at: 3)
        var forged = lines
        forged[2] = forged[2].replacing("mode test", with: "mode live")
        for wrong in [altered, moved, removed, forged, Array(lines.prefix(4))] {
            #expect(try !faults(wrong).isEmpty)
            #expect(try recompute(wrong).status == 1)
        }
        // Beyond the last signed head nothing tells, by either.
        #expect(try faults(Array(lines.prefix(5))) == [])
        #expect(try recompute(Array(lines.prefix(5))).status == 0)
    }
}
