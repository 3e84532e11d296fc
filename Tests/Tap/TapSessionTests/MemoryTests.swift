// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Envelope
import Foundation
import Testing

@testable import TapSession

struct MemoryTests {
    /// How often `pattern`, given with every byte inverted so that it does not find itself, stands in writable memory.
    private func occurrences(of inverted: [UInt8]) throws -> Int {
        let memory = unsafe open("/proc/self/mem", O_RDONLY)
        try #require(memory >= 0)
        defer { _ = close(memory) }
        var found = 0
        for line in try text(of: "/proc/self/maps").split(separator: "\n") where line.contains(" rw") {
            let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
            guard bounds.count == 2, bounds[1] - bounds[0] < 256 << 20 else { continue }
            var bytes = [UInt8](repeating: 0, count: bounds[1] - bounds[0])
            let read = unsafe bytes.withUnsafeMutableBytes { unsafe pread(memory, $0.baseAddress, $0.count, bounds[0]) }
            guard read > 0 else { continue }
            found += unsafe bytes.withUnsafeBytes { unsafe count(inverted, in: $0) }
        }
        return found
    }

    /// A file of /proc has no size and comes a page at a time.
    private func text(of path: String) throws -> String {
        let file = unsafe open(path, O_RDONLY)
        try #require(file >= 0)
        defer { _ = close(file) }
        var text: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(file, &page, page.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += page.prefix(count)
        }
    }

    private func count(_ inverted: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        var found = 0
        var start = 0
        while start + inverted.count <= bytes.count, let base = bytes.baseAddress {
            guard let hit = unsafe memchr(base + start, Int32(~inverted[0]), bytes.count - start) else { break }
            start = unsafe UnsafeRawPointer(hit) - base
            if start + inverted.count <= bytes.count,
                inverted.indices.allSatisfy({ unsafe bytes[start + $0] == ~inverted[$0] })
            {
                found += 1
            }
            start += 1
        }
        return found
    }

    @Test func `no card number in text is left in memory after sealing`() throws {
        let digits = [UInt8(4)] + (0..<15).map { _ in UInt8.random(in: 0...9) }
        let record = [DataObject(0x5A, try #require(BCD.pack(digits, count: 8)))]
        let inverted = digits.map { ~($0 | 0x30) }
        do {
            let sealed = try CardRecord(SampleOutcomes.final(record), SampleOutcomes.binding)
            #expect(try occurrences(of: inverted) > 0, "the scan finds it while it is there")
            _ = try JWE.seal(sealed.plaintext, to: .sandboxTest)
        }
        #expect(try occurrences(of: inverted) == 0)
    }
}
