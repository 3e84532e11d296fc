// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What stat(2) says of a file.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable {
        case file, folder, socket, other
    }

    package let kind: Kind
    /// The twelve bits of mode and special rights.
    package let mode: UInt32
    package let userID: UInt32
    package let groupID: UInt32
    package let device: UInt64
    package let inode: UInt64
    /// Seconds since 1970.
    package let modified: Int64

    /// - Parameter followsLink: `false` looks at a symbolic link itself.
    package init(of path: String, followsLink: Bool = true) throws(SystemError) {
        var status = stat()
        guard unsafe (followsLink ? stat(path, &status) : lstat(path, &status)) == 0 else { throw .last }
        self.init(status)
    }

    package init(of descriptor: Int32) throws(SystemError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        self.init(status)
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFSOCK: .socket
            default: .other
            }
        mode = status.st_mode & 0o7777
        userID = status.st_uid
        groupID = status.st_gid
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        modified = Int64(status.st_mtim.tv_sec)
    }
}
