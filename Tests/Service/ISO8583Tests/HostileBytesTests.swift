// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import ISO8583

struct HostileBytesTests {
    /// Bytes that look like a message for a while: of the vectors, with some changed, cut or doubled.
    private static func spoilt(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
            }
        }
        return bytes
    }

    @Test(arguments: Packager.BuiltIn.allCases)
    func `random bytes never trap, and what is taken can be built again`(builtIn: Packager.BuiltIn) throws {
        let packager = try Packager(builtIn)
        let good = try VectorTests.rows("message").filter { $0.dialect == builtIn.rawValue }
            .map { try Hex.bytes(try #require($0.hex)) }
        var random = SeededGenerator(seed: 8583)
        var taken = 0
        for round in 0..<25_000 {
            let isMade = round.isMultiple(of: 5)
            let bytes =
                isMade
                ? random.bytes(Int.random(in: 0...200, using: &random))
                : Self.spoilt(try #require(good.randomElement(using: &random)), &random)
            guard let message = try? packager.parse(bytes) else { continue }
            taken += 1
            #expect(try packager.parse(packager.build(message)) == message)
        }
        // Changed digits of an amount are a message; without any the loop would have shown nothing.
        #expect(taken > 100)
    }

    @Test func `random bytes on a connection never trap`() throws {
        var random = SeededGenerator(seed: 1987)
        for length in FrameFormat.Length.allCases {
            for _ in 0..<3_000 {
                var reader = FrameReader(
                    FrameFormat(length: length, countsItself: .random(using: &random), hasTPDU: .random(using: &random))
                )
                reader.append(random.bytes(Int.random(in: 0...40, using: &random)))
                do {
                    while try reader.next() != nil {}
                } catch {
                    // Whatever comes now, nothing more is read.
                    reader.append([0, 0])
                    #expect(throws: FrameError.self) { try reader.next() }
                }
            }
        }
    }

    @Test func `spoilt packager files are refused or read, and never trap`() throws {
        var random = SeededGenerator(seed: 42)
        var refused = 0
        for _ in 0..<200 {
            do { _ = try Packager(file: Self.spoilt(Packager.BuiltIn.bcd1987.file, &random)) } catch { refused += 1 }
        }
        #expect(refused > 60)
    }
}
