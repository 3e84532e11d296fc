// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import POSAPI
import PaymentValues
import Testing

@Suite("Profiles and terms in the journal")
struct TermsTests {
    private func withJournal(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func profile(_ serial: UInt64, key: String = "k") -> JournalledProfile {
        JournalledProfile(serial: serial, merchant: "M", key: key, token: "a.b.\(serial)", appliedAt: .now)
    }

    private func acceptance(merchant: String = "M", hash: String = "h", key: String = "k") -> TermsAcceptance {
        TermsAcceptance(
            merchant: merchant, version: "1", hash: hash, key: key, acceptedAt: .now, acceptedBy: "root", uid: 0,
            source: .local)
    }

    @Test func `the profile that came last under a key is found again, also after a restart`() throws {
        try withJournal { folder in
            do {
                let journal = try Journal(directory: folder)
                for serial: UInt64 in 1...40 { try journal.apply(profile(serial)) }
                try journal.apply(profile(7, key: "other"))
            }
            let journal = try Journal(directory: folder)
            #expect(try journal.profile(signedBy: "k")?.serial == 40)
            #expect(try journal.profile(signedBy: "k")?.token == "a.b.40")
            #expect(try journal.profile(signedBy: "other")?.serial == 7)
            #expect(try journal.profile(signedBy: "nobody") == nil)
        }
    }

    @Test("Requirement 6: terms are accepted once for a merchant, a text and a key")
    func once() throws {
        try withJournal { folder in
            let journal = try Journal(directory: folder)
            let first = acceptance()
            #expect(try journal.accept(first))
            #expect(try !journal.accept(acceptance()))
            #expect(try journal.acceptance(merchant: "M", hash: "h", key: "k") == first)
            for other in [acceptance(merchant: "N"), acceptance(hash: "i"), acceptance(key: "l")] {
                #expect(
                    try journal.acceptance(merchant: other.merchant, hash: other.hash, key: other.key) == nil)
                #expect(try journal.accept(other))
            }
        }
    }
}
