// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// The journal of systemd, by its native protocol (systemd.io, "Native Journal Protocol"), without libsystemd: an entry is
/// one datagram of named fields.
///
/// A value is cut after `maximumValueBytes` and an entry has few of them, so that it always fits into a datagram: the way
/// by a sealed memory file, for what does not, is not needed.
public final class ServiceJournal: Sendable {
    public typealias Field = (name: String, value: String)

    public static let maximumValueBytes = 4_096
    static let path = "/run/systemd/journal/socket"

    private let path: String
    private let socket: Descriptor

    /// Where standard error goes to the journal, by `JOURNAL_STREAM` (systemd.exec(5)); else nobody asked for it.
    public convenience init?() {
        self.init(
            stream: Environment.value("JOURNAL_STREAM"), of: STDERR_FILENO,
            path: Self.path)
    }

    /// - Parameters:
    ///   - stream: device and inode that the service manager has connected, `dev:inode`.
    ///   - output: descriptor that must be that very stream.
    init?(stream: String?, of output: Int32, path: String) {
        guard let stream, let found = try? FileStatus(of: output), stream == "\(found.device):\(found.inode)",
            let socket = try? Descriptor.unixDatagram()
        else { return nil }
        self.socket = socket
        self.path = path
    }

    /// Sends an entry without waiting.
    ///
    /// - Returns: `false` where the journal does not take it now: then standard error is the way, which waits.
    public func send(_ fields: [Field]) -> Bool {
        guard let address = UnixAddress(path: path) else { return false }
        return address.send(Self.entry(fields), from: socket.number, flags: Int32(MSG_DONTWAIT))
    }

    static func entry(_ fields: [Field]) -> [UInt8] {
        var entry: [UInt8] = []
        for field in fields {
            let value = Array(field.value.utf8.prefix(maximumValueBytes))
            entry += Array(name(field.name).utf8)
            if value.contains(UInt8(ascii: "\n")) {
                // The length, little-endian, instead of a sign that the value itself could hold.
                entry.append(UInt8(ascii: "\n"))
                entry += (0..<8).map { UInt8(truncatingIfNeeded: UInt64(value.count) >> (8 * UInt64($0))) }
            } else {
                entry.append(UInt8(ascii: "="))
            }
            entry += value
            entry.append(UInt8(ascii: "\n"))
        }
        return entry
    }

    /// A name as the journal takes it: capitals, digits and underscores, at most 64, none of its own with an underscore in
    /// front.
    private static func name(_ text: String) -> String {
        let name = text.utf8.prefix(64).map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 0x20
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        return String(decoding: name.drop { $0 == UInt8(ascii: "_") }, as: UTF8.self)
    }
}
