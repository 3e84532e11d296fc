// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// The files of a machine, below a root: `/`, or in tests a folder that looks like one.
public struct HostTree: Sendable {
    /// Without the final slash; empty for this machine.
    let root: String

    public init(root: String = "/") {
        self.root = root.last == "/" ? String(root.dropLast()) : root
    }

    var isThisMachine: Bool { root.isEmpty }

    /// What stat(2) says, links followed.
    struct Attributes: Equatable {
        var mode: UInt32
        var userID: UInt32
        var groupID: UInt32
        /// Seconds since 1970.
        var modified: Int64

        /// Whether a process with this user and these groups may read and write it (path_resolution(7), without root's
        /// privileges and without access control lists).
        func mayReadAndWrite(userID: UInt32, groupIDs: Set<UInt32>) -> Bool {
            if userID == self.userID { return mode & 0o600 == 0o600 }
            if groupIDs.contains(groupID) { return mode & 0o060 == 0o060 }
            return mode & 0o006 == 0o006
        }
    }

    enum SocketState: Equatable {
        case absent, listening
        /// Left behind: nobody listens.
        case refused
        /// This user may not connect.
        case denied
    }

    func attributes(_ path: String) -> Attributes? {
        guard let status = try? FileStatus(of: root + path) else { return nil }
        return Attributes(
            mode: status.mode, userID: status.userID, groupID: status.groupID, modified: status.modified)
    }

    func exists(_ path: String) -> Bool { FileSystem.exists(root + path) }

    func isExecutable(_ path: String) -> Bool { FileSystem.isExecutable(root + path) }

    /// The first MiB of a file; `nil` where it cannot be read.
    func bytes(_ path: String) -> [UInt8]? { try? FileSystem.beginning(of: root + path, 1_024 * 1_024) }

    func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// The first line without white space at its ends; sysfs ends its values with a line feed.
    func line(_ path: String) -> String? {
        guard let first = text(path)?.split(separator: "\n", omittingEmptySubsequences: false).first else { return nil }
        return String(first.trimmed)
    }

    /// Names in a folder in alphabetical order; none where it cannot be read.
    func entries(_ path: String) -> [String] { (FileSystem.entries(root + path) ?? []).sorted() }

    /// Whether we may look into a folder.
    func isListed(_ path: String) -> Bool { FileSystem.entries(root + path) != nil }

    /// Where a symbolic link points, as it is written.
    func link(_ path: String) -> String? { FileSystem.link(root + path) }

    func write(_ text: String, to path: String) -> Bool {
        do throws(SystemError) {
            let file = try Descriptor(opening: root + path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o644)
            try file.write(Array(text.utf8))
            return true
        } catch {
            return false
        }
    }

    /// Knocks at a Unix socket.
    func socket(_ path: String) -> SocketState {
        guard let address = UnixAddress(path: root + path) else { return .absent }
        // A call that blocks would wait for as long as a server whose queue is full takes nobody from it.
        guard let socket = try? Descriptor.unixStream() else { return .denied }
        do throws(SystemError) {
            try address.connect(socket.number)
            return .listening
        } catch {
            switch error.code {
            case EAGAIN: return .listening
            case EACCES, EPERM: return .denied
            case ENOENT, ENOTDIR: return .absent
            default: return .refused
            }
        }
    }
}

extension StringProtocol {
    /// Without white space at its ends.
    var trimmed: SubSequence {
        let kept = drop { $0.isWhitespace }
        guard let last = kept.lastIndex(where: { !$0.isWhitespace }) else { return kept }
        return kept[...last]
    }
}
