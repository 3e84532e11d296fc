// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// Where the sockets and the journal are: the options, else what systemd gives, else the user's own folders.
struct Folders {
    let runtime: String
    let state: String

    /// Makes the folder of the sockets where it is missing.
    init(runtime: String?, state: String?, isInstalled: Bool) throws {
        let systemRuntime = Folders.variable("RUNTIME_DIRECTORY") ?? (isInstalled ? "/run/nfc-tap" : nil)
        self.runtime = runtime ?? systemRuntime ?? Folders.userRuntime
        if let state {
            self.state = state
        } else if let runtime {
            // One folder for everything.
            self.state = runtime + "/state"
        } else {
            self.state =
                Folders.variable("STATE_DIRECTORY") ?? (isInstalled ? "/var/lib/nfc-tap" : Folders.userState)
        }
        guard Folders.make(self.runtime) else {
            throw StartFailure("cannot create the runtime directory \(self.runtime)", hint: "give --runtime-directory")
        }
        guard runtime != nil || systemRuntime != nil || Folders.isOurs(self.runtime) else {
            throw StartFailure(
                "the runtime directory \(self.runtime) belongs to another user", hint: "give --runtime-directory")
        }
        guard Folders.make(self.state) else {
            throw StartFailure("cannot create the state directory \(self.state)", hint: "give --state-directory")
        }
    }

    private static var userRuntime: String {
        variable("XDG_RUNTIME_DIR").map { $0 + "/nfc-tap" } ?? "/tmp/nfc-tap-\(geteuid())"
    }

    private static var userState: String {
        if let folder = variable("XDG_STATE_HOME") { return folder + "/nfc-tap" }
        return variable("HOME").map { $0 + "/.local/state/nfc-tap" } ?? userRuntime + "/state"
    }

    /// systemd's folder of credentials for this service; `nil` without one.
    static var credentials: String? { variable("CREDENTIALS_DIRECTORY") }

    private static func variable(_ name: String) -> String? {
        Environment.value(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Makes the folder with its parents.
    private static func make(_ path: String) -> Bool {
        var made = ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            do throws(SystemError) { try DurableFile.makeFolder(made) } catch {
                // What is there already may be in a place where nobody may make anything.
                guard [EEXIST, EROFS, EACCES].contains(error.code) else { return false }
            }
        }
        return (try? FileStatus(of: path))?.kind == .folder
    }

    /// Nobody else has prepared it, or can put something into it.
    private static func isOurs(_ path: String) -> Bool {
        guard let status = try? FileStatus(of: path, followsLink: false) else { return false }
        return status.kind == .folder && status.userID == geteuid() && status.mode & 0o022 == 0
    }
}
