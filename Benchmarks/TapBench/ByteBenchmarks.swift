// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// TLV and DOL on their own.
enum ByteBenchmarks {
    /// A record of 191 bytes with 19 objects, template included, as an issuer writes it (EMV Book 3 Annex A).
    static let record: [UInt8] = {
        var writer = TLVWriter()
        writer.append(0x70) { record in
            let objects: [(Tag, Int)] = [
                (0x57, 19), (0x5A, 8), (0x5F24, 3), (0x5F25, 3), (0x5F28, 2), (0x5F34, 1), (0x9F07, 2), (0x8E, 20),
                (0x9F0D, 5), (0x9F0E, 5), (0x9F0F, 5), (0x8C, 27), (0x8D, 12), (0x9F4A, 1), (0x5F20, 20), (0x9F08, 2),
                (0x5F30, 2), (0x9F42, 2),
            ]
            for (tag, count) in objects { record.append(tag, [UInt8](repeating: 0x41, count: count)) }
        }
        return writer.bytes
    }()

    /// A CDOL1 of eleven entries, 43 bytes of values.
    static let list: [UInt8] = [
        0x9F, 0x02, 0x06, 0x9F, 0x03, 0x06, 0x9F, 0x1A, 0x02, 0x95, 0x05, 0x5F, 0x2A, 0x02, 0x9A, 0x03, 0x9C, 0x01,
        0x9F, 0x37, 0x04, 0x9F, 0x35, 0x01, 0x9F, 0x45, 0x02, 0x9F, 0x34, 0x03,
    ]

    static func run() throws {
        Table.section("Bytes")
        let record = record
        let nodes = try TLV.nodes(record)
        guard record.count == 191, nodes.count == 19 else { throw BenchmarkError.wrongResult("the sample record") }
        let dol = try DOL(list)
        let values = values(for: dol)
        let list = list
        guard walk(record) == Yardstick.walk(record) else {
            throw BenchmarkError.wrongResult("the walk in C and ours differ")
        }
        let readings = Stopwatch.readings(of: [
            Subject("walk in C") { Yardstick.walk(record) },
            Subject("walk") { walk(record) },
            Subject("index") { (try? TLV.nodes(record))?.count ?? 0 },
            Subject("fill") { fill(dol, values) },
            Subject("parse") { (try? DOL(list))?.entries.count ?? 0 },
        ])
        Table.yardstick("C walk, record of 191 bytes, 19 objects", readings[0])
        Table.row("TLV walk of the same record", readings[1], beside: readings[0], target: 1.5)
        Table.row("TLV index of the same record, in a new array", readings[2], beside: readings[0])
        Table.row("DOL fill, 11 values, 35 bytes", readings[3], beside: readings[0])
        Table.row("DOL parse, 11 entries", readings[4], beside: readings[0])
    }

    static func values(for dol: DOL) -> [(tag: Tag, bytes: [UInt8])] {
        dol.entries.map { ($0.tag, [UInt8](repeating: 1, count: $0.length)) }
    }

    static func walk(_ record: [UInt8]) -> Int {
        var sum = 0
        do throws(TLVError) {
            try TLV.walk(record.span) { node in
                sum &+= Int(node.tag.rawValue) &+ node.value.lowerBound
                return true
            }
        } catch {
            return 0
        }
        return sum
    }

    static func fill(_ dol: DOL, _ values: [(tag: Tag, bytes: [UInt8])]) -> Int {
        dol.fill { tag in
            for value in values where value.tag == tag { return (value.bytes, .b) }
            return nil
        }.count
    }
}
