// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
package import Settings

/// The folder in which a program keeps what must survive its end, as the program's `--check` looks at it.
package enum StateFolder {
    /// What keeps the program from writing there, and what to do; `nil` where nothing is to be seen.
    ///
    /// Root asks for another user, whom only the folder's owner can be. The unit makes its folder at its first start, for a user that is not root.
    ///
    /// - Parameters:
    ///   - files: names in it that the program opens, where they are there.
    ///   - isMadeByUnit: `StateDirectory=` of the program's unit makes it.
    ///   - asker: user who asks; `nil` for that of this process.
    ///   - host: says whether this process may write.
    package static func fault(
        _ path: String, files: [String], isMadeByUnit: Bool, user asker: UInt32? = nil,
        host: ConfigurationHost = ConfigurationHost()
    ) -> String? {
        let user = asker ?? geteuid()
        let folder: FileStatus
        do throws(SystemError) { folder = try FileStatus(of: path) } catch {
            return error.code == ENOENT && isMadeByUnit ? nil : "\(path) cannot be used: \(error.remedy)"
        }
        guard folder.kind == .folder else { return "\(path) is no folder: name one" }
        guard folder.mode & 0o022 == 0 else {
            return "\(path) may be written by others: take that away with chmod go-w"
        }
        guard !(isMadeByUnit && user == 0 && folder.userID == 0) else {
            return "\(path) belongs to root: give it to the program's user with chown"
        }
        if user != 0 {
            let isOwn = folder.userID == user && folder.mode & 0o300 == 0o300
            guard isOwn || host.writingFault(path) == nil else {
                return "\(path) may not be written by this user: check its owner and mode"
            }
        }
        for name in files {
            guard let file = try? FileStatus(of: "\(path)/\(name)") else { continue }
            guard file.kind == .file, file.userID == folder.userID, file.mode & 0o600 == 0o600 else {
                return
                    "\(path)/\(name) is not the folder's owner's to read and write: give it back with chown and chmod u+rw"
            }
        }
        return nil
    }
}
