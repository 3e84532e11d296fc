import Glibc

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
        var status = stat()
        guard unsafe stat(root + path, &status) == 0 else { return nil }
        return Attributes(
            mode: status.st_mode & 0o7777, userID: status.st_uid, groupID: status.st_gid,
            modified: Int64(status.st_mtim.tv_sec))
    }

    func exists(_ path: String) -> Bool { unsafe access(root + path, F_OK) == 0 }

    func isExecutable(_ path: String) -> Bool { unsafe access(root + path, X_OK) == 0 }

    /// The first MiB of a file; `nil` where it cannot be read.
    func bytes(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1_024)
        while all.count < 1_024 * 1_024 {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            all += piece.prefix(count)
        }
        return all
    }

    func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// The first line without white space at its ends; sysfs ends its values with a line feed.
    func line(_ path: String) -> String? {
        guard let first = text(path)?.split(separator: "\n", omittingEmptySubsequences: false).first else { return nil }
        return String(first.trimmed)
    }

    /// Names in a folder in alphabetical order; none where it cannot be read.
    func entries(_ path: String) -> [String] {
        guard let folder = unsafe opendir(root + path) else { return [] }
        defer { _ = unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a symbolic link points, as it is written.
    func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(root + path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ text: String, to path: String) -> Bool {
        let descriptor = unsafe open(root + path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return false }
        let bytes = Array(text.utf8)
        let isWritten = unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        return close(descriptor) == 0 && isWritten
    }

    /// Knocks at a Unix socket.
    func socket(_ path: String) -> SocketState {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array((root + path).utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count < room else { return .absent }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .denied }
        defer { _ = close(descriptor) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return .listening }
        switch errno {
        case EACCES, EPERM: return .denied
        case ENOENT, ENOTDIR: return .absent
        default: return .refused
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
