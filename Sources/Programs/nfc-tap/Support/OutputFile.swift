// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Linux

/// Files that commands write.
enum OutputFile {
    /// Makes a new file that only this user reads.
    static func create(_ path: String, _ text: String) throws {
        let file = try new(path)
        do throws(SystemError) {
            try file.write(Array(text.utf8))
            try file.synchronize()
        } catch {
            throw Failure("cannot write \(path)", hint: "check the free space on the disk", exitCode: .unavailable)
        }
    }

    private static func new(_ path: String) throws(Failure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        } catch {
            let exists = error.code == EEXIST
            throw Failure(
                exists ? "\(path) already exists" : "cannot write \(path)",
                hint: exists ? "give another name, or remove the file" : "check the folder and its permissions",
                exitCode: .malformedInput)
        }
    }
}
