// SPDX-License-Identifier: Apache-2.0
import Foundation
import Gateway
import Glibc
import Linux
import Settings

@testable import Doctor

/// A folder that looks like a machine: the files that a checkup reads, written by the test.
final class FakeHost {
    let root: URL
    private var sockets: [Int32] = []

    init() throws {
        // Short, because the path of a Unix socket has 107 bytes at most.
        root = URL(filePath: "/tmp").appending(path: "doctor-\(UInt32.random(in: 0...(.max)))")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    deinit {
        for socket in sockets { _ = close(socket) }
        try? FileManager.default.removeItem(at: root)
    }

    var tree: HostTree { HostTree(root: root.path) }

    private var gateway: GatewayFacts {
        GatewayFacts(of: tree, port: GatewayFile.port) { path, text throws(ConfigurationError) in
            let file = try GatewayFile(file: path, text: text)
            return GatewayFacts.Pages(folder: file.pages, origins: file.origins)
        }
    }

    /// Clients of pcscd, by the inodes of their sockets.
    var pcscClients: [UInt32] = []
    /// What pcscd answers to the daemon's user.
    var pcscForDaemon = PCSCAnswer.unknown

    func facts(
        pcsc: PCSCAnswer = .unknown, now: Int64 = 1_800_000_000, userID: UInt32 = 0, configuration: String? = nil
    ) -> HostFacts {
        HostFacts(
            tree: tree, configuration: configuration, gateway: gateway, pcsc: pcsc, pcscForDaemon: pcscForDaemon,
            connections: pcscClients.map { UnixConnection(path: "/run/pcscd/pcscd.comm", peer: $0) }
                + [UnixConnection(path: "/run/dbus/system_bus_socket", peer: 1)],
            now: now, userID: userID)
    }

    /// As a checkup finds it; the folder stays until that is over.
    func checkup(
        pcsc: PCSCAnswer = .unknown, now: Int64 = 1_800_000_000, userID: UInt32 = 0, configuration: String? = nil
    ) -> Checkup {
        withExtendedLifetime(self) {
            Checkup(facts(pcsc: pcsc, now: now, userID: userID, configuration: configuration))
        }
    }

    func write(_ path: String, _ text: String = "", mode: Int = 0o644, modified: Int64 = 1_700_000_000) throws {
        let file = root.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes(
            [.posixPermissions: mode, .modificationDate: Date(timeIntervalSince1970: TimeInterval(modified))],
            ofItemAtPath: file.path)
    }

    func link(_ path: String, to target: String) throws {
        let link = root.appending(path: path)
        try FileManager.default.createDirectory(
            at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(at: root.appending(path: path)) }

    /// A socket that somebody listens at, or that somebody left behind. Nobody accepts: each checkup of a test has its place in the queue.
    func socket(_ path: String, isListening: Bool = true, mode: UInt32 = 0o660, room: Int32 = 64) throws {
        let file = root.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(file.path.utf8)) }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, unsafe chmod(file.path, mode) == 0 else { throw CocoaError(.fileWriteUnknown) }
        guard isListening else {
            _ = close(descriptor)
            return
        }
        guard listen(descriptor, room) == 0 else { throw CocoaError(.fileWriteUnknown) }
        sockets.append(descriptor)
    }

    /// A USB reader and its device file.
    func plug(_ id: String, port: String = "1-2", nodeMode: Int = 0o660, kernelDriver: String? = nil) throws {
        let parts = id.split(separator: ":").map(String.init)
        let device = "sys/bus/usb/devices/\(port)"
        try write(device + "/idVendor", parts[0] + "\n")
        try write(device + "/idProduct", parts[1] + "\n")
        try write(device + "/busnum", "1\n")
        try write(device + "/devnum", "5\n")
        try write("sys/bus/usb/devices/\(port):1.0/bInterfaceNumber", "00\n")
        if let kernelDriver {
            try link("sys/bus/usb/devices/\(port):1.0/driver", to: "../../../bus/usb/drivers/\(kernelDriver)")
        }
        try write(FakeHost.node, mode: nodeMode)
    }

    static let node = "/dev/bus/usb/001/005"

    func run(
        _ name: String, identifier: Int32, userID: UInt32 = 0, opens: [String] = [], unit: String? = nil,
        lockedMemory: String = "16777216", coreFile: String = "0"
    ) throws {
        let folder = "proc/\(identifier)"
        try write(folder + "/comm", String(name.prefix(15)) + "\n")
        try write(folder + "/status", "Name:\t\(name)\nUid:\t\(userID)\t\(userID)\t\(userID)\t\(userID)\n")
        try write(folder + "/cgroup", "0::/system.slice/\(unit ?? "session-1.scope")\n")
        let limits = [("Max core file size", coreFile, "bytes"), ("Max locked memory", lockedMemory, "bytes")]
        let rows = limits.map { name, soft, unit in
            name.padding(toLength: 26, withPad: " ", startingAt: 0)
                + soft.padding(toLength: 21, withPad: " ", startingAt: 0) + "unlimited            \(unit)\n"
        }
        try write(
            folder + "/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n" + rows.joined())
        try link(folder + "/fd/0", to: "/dev/null")
        for (index, path) in opens.enumerated() { try link(folder + "/fd/\(index + 3)", to: path) }
    }

    /// pcscd with its driver, the daemon as the package installs it, an adapter, a clock that is kept: nothing to find
    /// but the test key.
    static func healthy(lanes: [String] = ["pcsc:ACR122U"], psp: String = "") throws -> FakeHost {
        let host = try FakeHost()
        try host.write("usr/sbin/pcscd", mode: 0o755)
        try host.write("usr/lib/pcsc/drivers/ifd-ccid.bundle/Contents/Info.plist")
        try host.run("pcscd", identifier: 200, opens: [node])
        try host.write("etc/modprobe.d/blacklist-libnfc.conf", "blacklist nfc\nblacklist pn533\nblacklist pn533_usb\n")
        try host.write("lib/systemd/system/nfc-tapd.service")
        // The files here belong to whoever runs the tests; that group stands for the daemon's own.
        let ours = getegid()
        try host.write(
            "etc/passwd",
            "root:x:0:0::/root:/bin/sh\nnfc-tapd:x:990:\(ours)::/:/bin/false\npcscd:x:991:991::/:/bin/false\n")
        try host.write(
            "etc/group",
            "root:x:0:\nnfc-tapd:x:\(ours):\nnfc-tap:x:980:\nnfc-tap-psp:x:981:nfc-tapd\nnfc-tap-admin:x:982:\n"
                + "nfc-tap-loyalty:x:983:\nnfc-tap-monitor:x:984:\nnfc-tap-machine:x:979:\nplugdev:x:46:\ndialout:x:20:\npcscd:x:991:\n"
        )
        let tables = lanes.enumerated().map { "[[lane]]\nname = \"till-\($0)\"\nreader = \"\($1)\"\n" }
        try host.write("etc/nfc-tap/nfc-tapd.toml", "mode = \"test\"\n[psp]\n\(psp)\n" + tables.joined())
        try host.run("nfc-tapd", identifier: 300, userID: 990)
        try host.socket("run/nfc-tap/pos.sock")
        try host.socket("run/nfc-tap/psp.sock", mode: 0o666)
        try host.write("run/systemd/timesync/synchronized")
        try host.plug("072f:2200")
        return host
    }
}

extension Checkup {
    func findings(about subject: Finding.Subject) -> [Finding] { findings.filter { $0.subject == subject } }
}
