// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// The machine that a configuration is read for: where what it names is found, and what holds where it says nothing.
public struct ConfigurationHost: Sendable {
    /// In front of every path; empty for this machine.
    public var root = ""
    /// Folder of the sockets.
    public var runtimeDirectory = "/run/nfc-tap"
    /// Folder of the journal.
    public var stateDirectory = "/var/lib/nfc-tap"
    /// systemd's folder of credentials for the daemon; `nil` where there is none.
    public var credentials: String?
    /// The number of a group; `nil` where it does not exist.
    public var groupNumber: @Sendable (String) -> UInt32? = UserDatabase.number(ofGroup:)
    /// Why this process may not write there, by errno(3); `nil` where it may.
    public var writingFault: @Sendable (String) -> Int32? = { path in
        do throws(SystemError) { try FileSystem.checkWritable(path) } catch { return error.code }
        return nil
    }
    /// File descriptors that the daemon may have; `nil` where the system does not say.
    public var descriptors = DescriptorLimit.highest

    /// This machine, with the daemon as its unit runs it.
    public init() {}

    /// This machine as any other program sees it: with the credentials of the unit while that runs.
    public static var ofInstalledDaemon: ConfigurationHost {
        var host = ConfigurationHost()
        let folder = "/run/credentials/nfc-tapd.service"
        host.credentials =
            Environment.value("CREDENTIALS_DIRECTORY") ?? (FileSystem.exists(folder) ? folder : nil)
        return host
    }

    /// The text of a configuration file.
    package func text(of path: String) throws(ConfigurationError) -> String {
        guard let contents = contents(path) else {
            throw ConfigurationError(
                path, "cannot be read", remedy: "check its name and permissions", isUnreadable: true)
        }
        return String(decoding: contents, as: UTF8.self)
    }

    /// Up to 1 MiB of a file; `nil` where it cannot be read or is longer.
    package func contents(_ path: String) -> [UInt8]? { ConfigurationHost.contents(root + path) }

    /// The same of a file of this machine.
    public static func contents(_ path: String) -> [UInt8]? {
        do throws(SystemError) {
            return try Descriptor.reading(path).readAll(atMost: 1_024 * 1_024)
        } catch {
            return nil
        }
    }
}
