// SPDX-License-Identifier: Apache-2.0
/// Writes an archive in the ustar format (POSIX.1-2017, pax, "ustar Interchange Format"): regular files only.
struct TarArchive {
    private static let block = 512
    private let modified: Int64
    private var bytes: [UInt8] = []

    /// - Parameter modified: seconds since 1970, of every entry.
    init(modified: Int64) {
        self.modified = max(0, modified)
    }

    /// Adds a file that its owner may read.
    ///
    /// - Parameter name: at most 100 bytes; what is longer is cut.
    mutating func add(_ name: String, _ content: [UInt8]) {
        bytes += header(name, size: content.count)
        bytes += content
        let rest = content.count % Self.block
        if rest > 0 { bytes += [UInt8](repeating: 0, count: Self.block - rest) }
    }

    /// With the two empty blocks that end an archive.
    var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.block) }

    private func header(_ name: String, size: Int) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: some Sequence<UInt8>, at offset: Int, room: Int) {
            for (index, byte) in text.prefix(room).enumerated() { header[offset + index] = byte }
        }
        put(name.utf8, at: 0, room: 100)
        put(Self.octal(0o600, digits: 7), at: 100, room: 8)
        put(Self.octal(0, digits: 7), at: 108, room: 8)
        put(Self.octal(0, digits: 7), at: 116, room: 8)
        put(Self.octal(size, digits: 11), at: 124, room: 12)
        put(Self.octal(Int(clamping: modified), digits: 11), at: 136, room: 12)
        // The checksum is made over the header with spaces in its own place.
        put([UInt8](repeating: 0x20, count: 8), at: 148, room: 8)
        header[156] = UInt8(ascii: "0")
        put("ustar\0".utf8, at: 257, room: 6)
        put("00".utf8, at: 263, room: 2)
        let sum = header.reduce(0) { $0 + Int($1) }
        put(Self.octal(sum, digits: 6), at: 148, room: 7)
        return header
    }

    private static func octal(_ number: Int, digits: Int) -> [UInt8] {
        let text = String(number, radix: 8)
        return Array((String(repeating: "0", count: max(0, digits - text.utf8.count)) + text).utf8)
    }
}
