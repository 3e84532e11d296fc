// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Journal
import PaymentValues
import TestSupport
import Testing

@Suite("The audit chain (requirements §10.5)")
struct AuditChainTests {
    private let key = SigningKey()

    private func chain(_ count: Int64) -> [AuditLink] {
        var links: [AuditLink] = []
        for sequence in 1...count {
            let entry = AuditEntry(
                .state, subject: "tx-\(sequence)", detail: "created", at: Timestamp(milliseconds: sequence))
            links.append(AuditLink(entry, sequence: sequence, after: links.last?.hash ?? AuditLink.origin))
        }
        return links
    }

    private func statement(_ kind: AuditStatement.Kind, _ link: AuditLink, by key: SigningKey? = nil) throws -> String {
        try AuditStatement(kind, installation: "shop", sequence: link.sequence, hash: link.hash)
            .signed(by: key ?? self.key)
    }

    private func faults(_ links: [AuditLink], _ statements: [String]) -> [AuditFault] {
        var verifier = AuditVerifier(key: key.verificationKey)
        for statement in statements { verifier.take(statement: statement) }
        for link in links { verifier.take(link) }
        return verifier.finish()
    }

    @Test("A chain as it was written holds, whether the last entries are signed yet or not")
    func whole() throws {
        let links = chain(20)
        #expect(faults(links, [try statement(.head, links[19])]).isEmpty)
        #expect(faults(links, [try statement(.head, links[4]), try statement(.head, links[9])]).isEmpty)
        #expect(faults([], []).isEmpty)
    }

    @Test("The hash is what sha256sum says of the six lines")
    func independent() throws {
        let link = AuditLink(
            AuditEntry(.terms, subject: "shop-1", detail: "accepted", at: Timestamp(milliseconds: 0)), sequence: 1,
            after: AuditLink.origin)
        let commands =
            "printf '%s\\n%s\\n%s\\n%s\\n%s\\n%s' \(AuditLink.origin) 1 1970-01-01T00:00:00.000Z terms shop-1 accepted"
            + " | sha256sum | cut -c1-64"
        #expect(try Peer.run("/bin/sh", ["-c", commands]).output == link.hash + "\n")
    }

    @Test("An altered entry is found, also with a hash that fits it")
    func altered() throws {
        let links = chain(10)
        let head = [try statement(.head, links[9])]
        for index in links.indices {
            var entry = links[index].entry
            entry.detail = "approved"
            var changed = links
            changed[index] = AuditLink(sequence: links[index].sequence, entry: entry, hash: links[index].hash)
            #expect(faults(changed, head) == [.altered(sequence: links[index].sequence)])
            // Whoever alters can compute the hash anew, and then the next one or the signature does not fit.
            changed[index] = AuditLink(
                entry, sequence: links[index].sequence, after: index == 0 ? AuditLink.origin : links[index - 1].hash)
            #expect(!faults(changed, head).isEmpty)
        }
    }

    @Test("A chain computed anew from an altered entry on contradicts what was signed")
    func recomputed() throws {
        let links = chain(10)
        var changed = Array(links.prefix(4))
        for link in links.dropFirst(4) {
            var entry = link.entry
            entry.detail = "declined"
            changed.append(AuditLink(entry, sequence: link.sequence, after: changed[changed.count - 1].hash))
        }
        #expect(faults(changed, [try statement(.head, links[9])]) == [.contradicted(sequence: 10)])
    }

    @Test("A removed entry, a swapped pair and a repeated entry are found", arguments: 1..<9)
    func removed(index: Int) throws {
        let links = chain(10)
        let head = [try statement(.head, links[9])]
        var changed = links
        changed.remove(at: index)
        #expect(faults(changed, head) == [.missing(before: Int64(index + 2))])
        changed = links
        changed.swapAt(index, index - 1)
        #expect(!faults(changed, head).isEmpty)
        changed = links
        changed.insert(links[index], at: index)
        #expect(faults(changed, head).contains(.outOfOrder(sequence: Int64(index + 1))))
    }

    @Test("Entries cut off before the last signed head are found; the same after it cannot be")
    func truncated() throws {
        let links = chain(10)
        let head = [try statement(.head, links[7])]
        #expect(faults(Array(links.prefix(5)), head) == [.truncated(after: 5, signed: 8)])
        #expect(faults([], head) == [.truncated(after: 0, signed: 8)])
        #expect(faults(Array(links.prefix(8)), head).isEmpty)
    }

    @Test("Erased entries need a signed checkpoint at the entry before the first; a head is none")
    func erased() throws {
        let links = chain(10)
        let rest = Array(links.dropFirst(4))
        let head = try statement(.head, links[9])
        #expect(faults(rest, [try statement(.checkpoint, links[3]), head]).isEmpty)
        #expect(faults(rest, [head]) == [.missing(before: 5)])
        #expect(faults(rest, [try statement(.head, links[3]), head]) == [.missing(before: 5)])
        #expect(faults(rest, [try statement(.checkpoint, links[2]), head]) == [.missing(before: 5)])
        #expect(
            faults(rest, [try statement(.checkpoint, links[3], by: SigningKey()), head])
                == [.forgedStatement(number: 1), .missing(before: 5)])
    }

    @Test("A chain that nothing signed covers says so")
    func unsigned() {
        #expect(faults(chain(3), []) == [.unsigned])
    }

    @Test("An exported line reads back as what it was, and nothing else reads at all")
    func lines() throws {
        let link = try #require(chain(1).first)
        for line in [
            AuditLine.installation(name: "shop", jwk: key.verificationKey.jwk), .statement("a.b.c"), .link(link),
        ] {
            #expect(AuditLine(line.text) == line)
            #expect(!line.text.contains("\n"))
        }
        for text in ["", "{}", "[]", #"{"sequence":1}"#, "sequence"] { #expect(AuditLine(text) == nil) }
    }

    @Test("Line breaks in what an entry says do not reach the hash")
    func lineBreaks() {
        let entry = AuditEntry(.administration, subject: "a\nb", detail: "c\r\nd")
        #expect(entry.subject == "a b")
        #expect(entry.detail == "c  d")
    }
}
