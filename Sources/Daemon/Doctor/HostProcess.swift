// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A running process, as far as /proc shows it to us.
struct HostProcess {
    let identifier: Int32
    /// `comm`: the program's name, cut after 15 bytes.
    let name: String
    let userID: UInt32?
    /// systemd's unit, from the control group: `ModemManager.service`.
    let unit: String?
    /// Device files it has open; `nil` where we may not look.
    let openDevices: [String]?
    /// Inodes of the sockets it has open; none where we may not look.
    let sockets: Set<UInt32>
    /// Soft limits of setrlimit(2) in bytes, by proc(5)'s names; `UInt64.max` for unlimited.
    private let limits: [String: UInt64]

    var lockedMemoryLimit: UInt64? { limits["Max locked memory"] }
    var coreFileLimit: UInt64? { limits["Max core file size"] }

    /// Whether this is `program`, whose name may be longer than `comm` shows.
    func isProgram(_ program: String) -> Bool { name == String(decoding: program.utf8.prefix(15), as: UTF8.self) }

    /// Of this process.
    static var own: Int32 { getpid() }

    static func all(in tree: HostTree) -> [HostProcess] {
        tree.entries("/proc").compactMap { entry in
            Int32(entry).flatMap { HostProcess(identifier: $0, tree) }
        }
    }

    private init?(identifier: Int32, _ tree: HostTree) {
        let folder = "/proc/\(identifier)"
        // A process may end between the listing and here.
        guard let name = tree.line(folder + "/comm") else { return nil }
        self.identifier = identifier
        self.name = name
        userID = Self.userID(tree.text(folder + "/status") ?? "")
        unit = Self.unit(tree.text(folder + "/cgroup") ?? "")
        let opened = Self.opened(folder + "/fd", tree)
        openDevices = opened?.filter { $0.hasPrefix("/dev/") }
        sockets = Set((opened ?? []).compactMap(Self.socket))
        limits = Self.limits(tree.text(folder + "/limits") ?? "")
    }

    private static func userID(_ status: String) -> UInt32? {
        for line in status.split(separator: "\n") where line.hasPrefix("Uid:") {
            return line.split { $0.isWhitespace }.dropFirst().first.flatMap { UInt32($0) }
        }
        return nil
    }

    /// The last part of the path that is a service.
    private static func unit(_ cgroup: String) -> String? {
        cgroup.split { $0 == "/" || $0 == "\n" }.last { $0.hasSuffix(".service") }.map(String.init)
    }

    private static func opened(_ folder: String, _ tree: HostTree) -> [String]? {
        let descriptors = tree.entries(folder)
        // Every process has descriptors; a folder without any is one that we may not read.
        guard !descriptors.isEmpty else { return nil }
        return descriptors.compactMap { tree.link(folder + "/" + $0) }
    }

    /// `socket:[12345]`
    private static func socket(_ link: String) -> UInt32? {
        guard link.hasPrefix("socket:["), link.last == "]" else { return nil }
        return UInt32(link.dropFirst(8).dropLast())
    }

    /// `Max core file size        0                    unlimited            bytes`
    private static func limits(_ text: String) -> [String: UInt64] {
        var limits: [String: UInt64] = [:]
        for line in text.split(separator: "\n").dropFirst() {
            let name = line.prefix(26).trimmed
            guard let soft = line.dropFirst(26).split(whereSeparator: \.isWhitespace).first else { continue }
            limits[String(name)] = soft == "unlimited" ? .max : UInt64(soft)
        }
        return limits
    }
}
