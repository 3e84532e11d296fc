// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

/// What another process holds in its memory. Reading that of one that forbids dumps takes root.
struct ProcessMemory {
    private struct Mapping {
        var range: Range<UInt>
        /// Wiped on fork and left out of core dumps: where secrets may be.
        var isForSecrets = false
    }

    private let descriptor: Int32
    private let mappings: [Mapping]

    init(of process: Int32) throws {
        // Not as a file's contents: what the kernel writes comes in pieces, and only an empty one is the end.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/\(process)/smaps"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        try #require(text.contains("[stack]"))
        var mappings: [Mapping] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if bounds.count == 2, bounds[0] < bounds[1], fields.count > 1, fields[1].hasPrefix("r") {
                mappings.append(Mapping(range: bounds[0]..<bounds[1]))
            } else if fields[0] == "VmFlags:", !mappings.isEmpty {
                mappings[mappings.count - 1].isForSecrets = fields.contains("wf") && fields.contains("dd")
            }
        }
        self.mappings = mappings
        descriptor = unsafe open("/proc/\(process)/mem", O_RDONLY)
        try #require(descriptor >= 0 && !mappings.isEmpty)
    }

    func close() { _ = Glibc.close(descriptor) }

    /// How often each of `needles` stands in memory: in that for secrets, and in any other.
    func places(of needles: [Data]) throws -> [(secret: Int, other: Int)] {
        var found = needles.map { _ in (secret: 0, other: 0) }
        var read = 0
        for mapping in mappings {
            var data = Data(count: mapping.range.count)
            let got = unsafe data.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress, buffer.count, Int(bitPattern: mapping.range.lowerBound))
            }
            guard got > 0 else { continue }
            read += got
            for (index, needle) in needles.enumerated() {
                let count = ProcessMemory.count(of: needle, in: data.prefix(got))
                if mapping.isForSecrets { found[index].secret += count } else { found[index].other += count }
            }
        }
        try #require(read > 1 << 20)
        return found
    }

    private static func count(of needle: Data, in data: Data) -> Int {
        var count = 0
        var rest = data.startIndex..<data.endIndex
        while let hit = data.range(of: needle, in: rest) {
            count += 1
            rest = hit.lowerBound + 1..<data.endIndex
        }
        return count
    }
}
