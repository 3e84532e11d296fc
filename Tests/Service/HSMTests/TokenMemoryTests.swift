// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import HSM
import TestSupport
import Testing

@Suite(.serialized)
struct TokenMemoryTests {
    /// Makes a key in another process, which tells its scalar under a mask only, so that this process never has it by itself.
    private static let making = """
        import sys, json, os
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
        request = json.load(sys.stdin)
        key = ec.generate_private_key(ec.SECP256R1())
        open(request["private"], "wb").write(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
        open(request["public"], "wb").write(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
        scalar = key.private_numbers().private_value.to_bytes(32, "big")
        mask = os.urandom(32)
        json.dump({"masked": bytes(a ^ b for a, b in zip(scalar, mask)).hex(), "mask": mask.hex()}, sys.stdout)
        """

    /// Places in this process's memory where `mask` gives `masked`, in either order of the bytes.
    private func places(_ masked: [UInt8], _ mask: [UInt8]) throws -> Int {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        let memory = try #require(FileHandle(forReadingAtPath: "/proc/self/mem"))
        var found = 0
        var read = 0
        for line in maps.split(separator: "\n") where line.contains(" rw") && !line.contains("[vvar") {
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard range.count == 2 else { continue }
            var place = range[0]
            while place < range[1] {
                try memory.seek(toOffset: place)
                let piece = min(Int(range[1] - place), 1 << 20)
                guard let data = try? memory.read(upToCount: piece), !data.isEmpty else { break }
                read += data.count
                found += Masked.count(masked, mask, in: Array(data))
                // Pieces overlap, so that nothing is cut in two.
                place += UInt64(data.count > 64 && place + UInt64(data.count) < range[1] ? data.count - 32 : data.count)
            }
        }
        #expect(read > 1 << 20)
        return found
    }

    @Test func `the private key is nowhere in the process that opens with it`() async throws {
        let soft = try SoftToken()
        let (secret, open) = try (SoftToken.file("private.der"), SoftToken.file("public.der"))
        let answer = try SoftToken.python(Self.making, ["private": secret.path, "public": open.path])
        let texts = try #require(answer as? [String: String])
        let (masked, mask) = try (Hex.bytes(texts["masked"] ?? ""), Hex.bytes(texts["mask"] ?? ""))
        try #require(masked.count == 32 && mask.count == 32)
        try soft.tool([
            "--write-object", secret.path, "--type", "privkey", "--label", "shop", "--id", "01", "--usage-derive",
            "--sensitive",
        ])
        try soft.tool([
            "--write-object", open.path, "--type", "pubkey", "--label", "shop", "--id", "01", "--usage-derive",
        ])
        try FileManager.default.removeItem(at: secret)
        let token = try Token(soft.settings { $0.recipients = [TokenKey(label: "shop")] })
        let key = try #require(await token.recipients().keys.first)
        let envelope = try JWE.seal(SecretBytes(text: "x"), to: key)
        for _ in 0..<50 { #expect(try await token.open(envelope).text == "x") }
        #expect(try places(masked, mask) == 0)
        await token.close()
        #expect(try places(masked, mask) == 0)
        // The search finds what is there.
        let scalar = zip(masked, mask).map { $0 ^ $1 }
        #expect(try places(masked, mask) > 0)
        #expect(scalar.count == 32)
    }
}
