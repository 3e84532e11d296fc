// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Calls about files by their paths.
package enum FileSystem {
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether this process may write there now, as access(2) says.
    package static func checkWritable(_ path: String) throws(SystemError) {
        guard unsafe access(path, W_OK) == 0 else { throw .last }
    }

    package static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// The whole file.
    ///
    /// - Throws: `EFBIG` for more than `limit` bytes, `ESPIPE` for a pipe with a name.
    package static func bytes(of path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        try Descriptor.reading(path).readAll(atMost: limit)
    }

    /// The first bytes of a file, up to `count`. Never waits for what a pipe has not got yet.
    package static func beginning(of path: String, _ count: Int) throws(SystemError) -> [UInt8] {
        let file = try Descriptor(opening: path, O_RDONLY | O_NONBLOCK)
        var all: [UInt8] = []
        while all.count < count {
            let piece = try file.read(atMost: min(count - all.count, 64 * 1_024))
            if piece.isEmpty { break }
            all += piece
        }
        return all
    }

    /// Where a symbolic link points, as it is written; `nil` where there is none.
    package static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Names in a folder without `.` and `..`, in no order; `nil` where it cannot be read.
    package static func entries(_ path: String) -> [String]? {
        guard let folder = unsafe opendir(path) else { return nil }
        defer { _ = unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Bytes that are free for this user on the disk where `path` is, as statvfs(3) says. A quota may leave fewer.
    package static func room(at path: String) throws(SystemError) -> Int64 {
        var found = statvfs()
        guard unsafe statvfs(path, &found) == 0 else { throw .last }
        let (bytes, isFar) = UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize))
        return isFar ? .max : Int64(clamping: bytes)
    }

    package static func remove(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) == 0 else { throw .last }
    }

    package static func setMode(_ mode: mode_t, of path: String) throws(SystemError) {
        guard unsafe chmod(path, mode) == 0 else { throw .last }
    }

    package static func setGroup(_ group: UInt32, of path: String) throws(SystemError) {
        guard unsafe chown(path, UInt32.max, group) == 0 else { throw .last }
    }

    /// Of a link itself where it is one.
    package static func setOwner(_ user: UInt32, _ group: UInt32, of path: String) throws(SystemError) {
        guard unsafe lchown(path, user, group) == 0 else { throw .last }
    }

    /// Makes one folder.
    package static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(SystemError) {
        guard unsafe mkdir(path, mode) == 0 else { throw .last }
    }

    /// Makes a folder with a name that nobody else has, which this user alone may enter.
    ///
    /// - Parameter prefix: everything but the last six characters of its path.
    package static func makeTemporaryFolder(_ prefix: String) throws(SystemError) -> String {
        var template = Array((prefix + "XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .last }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
