// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Files on which something rests later: whole, and there by their names, after any power cut.
///
/// fsync(2): syncing a file says nothing of the name that leads to it; that is on the disk when its folder was synced. Who keeps a
/// thumbprint, a number or a promise elsewhere afterwards would otherwise have it without its file.
package enum DurableFile {
    /// Writes a file whole or not at all, in the place of the one that has its name.
    ///
    /// - Throws: what the system says; the former file is there then, or the new one whole.
    package static func replace(
        _ path: String, with bytes: borrowing Span<UInt8>, mode: mode_t
    ) throws(SystemError) {
        let temporary = path + ".new"
        try? FileSystem.remove(temporary)
        do throws(SystemError) {
            try write(bytes, to: temporary, mode: mode)
        } catch {
            try? FileSystem.remove(temporary)
            throw error
        }
        try rename(temporary, to: path)
    }

    /// Makes a file that nobody has made yet.
    ///
    /// - Throws: `EEXIST` where there is one.
    package static func create(
        _ path: String, with bytes: borrowing Span<UInt8>, mode: mode_t
    ) throws(SystemError) {
        try write(bytes, to: path, mode: mode)
        try synchronizeFolder(of: path)
    }

    /// Gives a file, which has been synced, its name. Takes the place of the one that has it.
    package static func rename(_ path: String, to other: String) throws(SystemError) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw .last }
        try synchronizeFolder(of: other)
        if folder(of: path) != folder(of: other) { try synchronizeFolder(of: path) }
    }

    /// Makes one folder.
    ///
    /// - Throws: `EEXIST` where there is one.
    package static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(SystemError) {
        try FileSystem.makeFolder(path, mode: mode)
        try synchronizeFolder(of: path)
    }

    /// Waits until the name of a file that was just made, or found after an end at any moment, is on the disk.
    package static func synchronizeFolder(of path: String) throws(SystemError) {
        let folder = try Descriptor(opening: folder(of: path), O_RDONLY | O_DIRECTORY)
        do throws(SystemError) { try folder.synchronize() } catch {
            // fsync(2): this file system has no such thing for a folder.
            guard error.code == EINVAL else { throw error }
        }
    }

    private static func write(
        _ bytes: borrowing Span<UInt8>, to path: String, mode: mode_t
    ) throws(SystemError) {
        let file = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
        try file.write(bytes)
        // Whatever the umask is.
        try file.setMode(mode)
        try file.synchronize()
    }

    private static func folder(of path: String) -> String {
        // Slashes at the end are no part of the name.
        guard let last = path.lastIndex(where: { $0 != "/" }) else { return "/" }
        guard let slash = path[...last].lastIndex(of: "/") else { return "." }
        let end = path[..<slash].lastIndex { $0 != "/" }
        return end.map { String(path[...$0]) } ?? "/"
    }
}
