// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Testing

struct SecretBytesTests {
    @Test func `what goes in comes out, also beyond the first capacity`() {
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
        let secret = SecretBytes(capacity: 10) { $0.append(contentsOf: bytes) }
        #expect(secret.count == bytes.count)
        #expect(secret.withSpan { span in span.indices.allSatisfy { span[$0] == bytes[$0] } })
        #expect(SecretBytes([]).withSpan { $0.isEmpty })
    }

    @Test func `text and digits are written without a String in between`() {
        let secret = SecretBytes(capacity: 16) { writer in
            writer.append(text: "{\"pan\":\"")
            writer.append(hex: [0x47, 0xAF])
            writer.append(0x22)
        }
        #expect(secret.withSpan { span in span.indices.map { span[$0] } } == Array("{\"pan\":\"47AF\"".utf8))
    }

    @Test func `no description, dump or reflection shows a byte`() {
        let secret = SecretBytes(Array("4761739001010010".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: secret), dumped] {
            #expect(!text.contains("4761") && !text.contains("52, 55"))
        }
        #expect("\(secret)" == "<16 secret bytes>")
    }

    @Test func `secrets compare by content`() {
        let secret = SecretBytes([1, 2, 3])
        #expect(SecretBytes.constantTimeEqual(secret, secret))
        #expect(SecretBytes.constantTimeEqual(secret, SecretBytes([1, 2, 3])))
        #expect(!SecretBytes.constantTimeEqual(secret, SecretBytes([1, 2, 4])))
        #expect(!SecretBytes.constantTimeEqual(secret, SecretBytes([1, 2])))
    }

    @Test func `the pages of a secret stay out of core dumps and forks`() throws {
        let secret = SecretBytes([1])
        let address = unsafe secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let maps = try withExtendedLifetime(secret) {
            let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        }
        let start = String(address, radix: 16)
        let region = try #require(
            maps.components(separatedBy: "VmFlags:").first { part in
                part.split(separator: "\n").contains { line in
                    let bounds = line.split(separator: " ").first?.split(separator: "-") ?? []
                    guard bounds.count == 2, let low = UInt(bounds[0], radix: 16), let high = UInt(bounds[1], radix: 16)
                    else { return false }
                    return low <= address && address < high
                }
            }, "no mapping holds \(start)")
        let after = try #require(maps.range(of: region)).upperBound
        let flags = try #require(maps[after...].split(separator: "\n").first)
        #expect(flags.contains(" dd"), "MADV_DONTDUMP")
        #expect(flags.contains(" wf"), "MADV_WIPEONFORK")
    }
}
