// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

/// The lines of Tests/Vectors/emv/second-reading.jsonl: kernels and Entry Point as others read the books.
enum SecondReading {
    static func lines(_ kind: String) throws -> [[String: Any]] {
        try VectorFile.objects("emv/second-reading.jsonl", kind: kind)
    }

    /// The kinds that the suites beside this file run, each with all of its lines.
    static let kinds: Set<String> = [
        "ep_requested_kernel", "ep_tag_96", "ep_spi", "ep_select", "ep_restart_ui", "ep_zero_amount", "ep_start_b_ttq",
        "k2_script", "k2_cryptogram", "k2_second_tap", "k2_l1", "k2_stop", "k2_taa", "k2_magstripe_fill", "rrp",
        "rrp_track2", "owhf2", "owhf2aes", "k2_put_data", "k2_get_data", "k3_script", "k3_egpo", "ecc_ca_checksum",
        "ecc_issuer_certificate", "ecc_icc_certificate", "ec_sdsa", "k8_bdh", "k8_iad_mac", "k8_eda_mac", "k8_record",
    ]

    /// Lines that are not followed, each with the reason.
    static let notFollowed: [String: String] = [
        "emv2-ecc_icc_certificate-002":
            "a certificate of contact cards (XDA): kernel 8 takes hash encoding 01 and key suite 00 only, as its note says"
    ]

    static func isFollowed(_ line: [String: Any]) -> Bool { notFollowed[line.id] == nil }
}

extension [String: Any] {
    var id: String { self["id"] as? String ?? "?" }

    func text(_ key: String) throws -> String { try #require(self[key] as? String, "no \(key) in \(id)") }
    func bytes(_ key: String) throws -> [UInt8] { try Hex.bytes(text(key)) }
    func number(_ key: String) throws -> Int { try #require(self[key] as? Int, "no \(key) in \(id)") }
    func object(_ key: String) throws -> [String: Any] { try #require(self[key] as? [String: Any], "\(id)") }

    /// The value of a member whose text may say `absent`.
    func optionalBytes(_ key: String) throws -> [UInt8]? {
        guard let text = self[key] as? String, text != "absent" else { return nil }
        return try Hex.bytes(text)
    }
}

@Suite("Second reading: every line is run")
struct SecondReadingFileTests {
    @Test func `every kind of the file has a test, and every exception is a line`() throws {
        let lines = try VectorFile.objects("emv/second-reading.jsonl")
        #expect(Set(lines.compactMap { $0["kind"] as? String }) == SecondReading.kinds)
        #expect(Set(SecondReading.notFollowed.keys).isSubset(of: lines.map { $0.id }))
        #expect(lines.count == 171)
    }
}
