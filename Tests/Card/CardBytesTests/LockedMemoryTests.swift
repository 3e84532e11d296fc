// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CardBytes

struct LockedMemoryTests {
    private static let page = 4_096

    private func bytes(of memory: borrowing LockedMemory) -> [UInt8] {
        (0..<memory.capacity).map { memory.load(at: $0) }
    }

    @Test func `a page comes back empty, whatever was in it`() {
        for round in 0..<40 {
            var memory = LockedMemory(capacity: 16)
            #expect(bytes(of: memory).allSatisfy { $0 == 0 }, "round \(round)")
            for index in 0..<memory.capacity { memory.store(UInt8(truncatingIfNeeded: index | 1), at: index) }
        }
    }

    @Test func `secrets that live at the same time share no page`() throws {
        let secrets = (0..<100).map { number in SecretBytes(Array(repeating: UInt8(number), count: 64)) }
        let addresses = secrets.map { unsafe $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) / UInt(Self.page) } }
        #expect(Set(addresses).count == 100)
        for (number, secret) in secrets.enumerated() {
            #expect(secret.withSpan { span in span.indices.allSatisfy { span[$0] == UInt8(number) } })
        }
    }

    @Test func `threads that take and give back pages never see each other's bytes`() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { round in
                        let byte = UInt8(truncatingIfNeeded: task &* 31 &+ round)
                        return SecretBytes(Array(repeating: byte, count: 2_000)).withSpan { span in
                            span.indices.allSatisfy { span[$0] == byte }
                        }
                    }
                }
            }
            for await isOwn in group { #expect(isOwn) }
        }
    }
}
