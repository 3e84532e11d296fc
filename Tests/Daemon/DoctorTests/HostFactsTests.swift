// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// What is read from a machine, whatever its files hold.
struct HostFactsTests {
    @Test func `an empty machine is looked over without a fault`() throws {
        let checkup = try FakeHost().checkup()
        #expect(Set(checkup.findings.map(\.subject)) == [.pcscd, .backend, .clock, .daemon])
    }

    @Test func `findings come the gravest first`() throws {
        let severities = try FakeHost().checkup(pcsc: .accessDenied).findings.map(\.severity)
        let order = Finding.Severity.allCases
        let ranks = severities.compactMap { order.firstIndex(of: $0) }
        #expect(ranks == ranks.sorted())
        #expect(ranks.count > 2)
    }

    @Test func `every finding says in one line what is wrong and what to do`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:acr122_usb", "libnfc:pn532_uart:/dev/ttyUSB9"])
        try host.plug("04e6:5591", nodeMode: 0o666, kernelDriver: "pn533_usb")
        try host.run("nfc-tapd", identifier: 300, userID: 990, lockedMemory: "0", coreFile: "unlimited")
        try host.remove("run/nfc-tap")
        let findings = host.checkup().findings
        #expect(findings.count > 8)
        for finding in findings {
            #expect(!finding.problem.contains("\n") && !finding.problem.hasSuffix("."), "\(finding.problem)")
            #expect(!finding.remedy.isEmpty && !finding.remedy.contains("\n"))
        }
    }

    @Test(arguments: ["", "\n", "zz", "072f2200", "-1", "\u{0}\u{FF}", "072f\u{0}"])
    func `nonsense in sysfs is no reader`(text: String) throws {
        let host = try FakeHost()
        try host.plug("072f:2200")
        for name in ["idVendor", "idProduct", "busnum", "devnum"] {
            try host.write("sys/bus/usb/devices/1-2/\(name)", text)
        }
        #expect(host.facts().readers.isEmpty)
    }

    @Test func `bus and device numbers have three digits at least, as usbfs writes them`() throws {
        let host = try FakeHost()
        try host.plug("072f:2200")
        try host.write("sys/bus/usb/devices/1-2/busnum", "12\n")
        try host.write("sys/bus/usb/devices/1-2/devnum", "1234\n")
        #expect(host.facts().readers.map(\.node) == ["/dev/bus/usb/012/1234"])
    }

    @Test func `a device that is no reader is left alone`() throws {
        let host = try FakeHost()
        try host.plug("1d6b:0002")
        #expect(host.facts().readers.isEmpty)
    }

    @Test func `a process that ends meanwhile, or that hides, is no fault`() throws {
        let host = try FakeHost()
        try host.write("proc/77/status", "Uid:\tnobody\n")
        try host.write("proc/78/comm", "daemon\n")
        try host.write("proc/78/limits", "Max locked memory")
        try host.write("proc/self/comm", "not a number\n")
        let processes = host.facts().processes
        #expect(processes.map(\.identifier) == [78])
        #expect(processes.first?.openDevices == nil)
        #expect(processes.first?.lockedMemoryLimit == nil)
        #expect(processes.first?.userID == nil)
    }

    @Test func `a name that the kernel cut is still recognised`() throws {
        let host = try FakeHost()
        try host.run("nfc-tap-libnfc-worker", identifier: 5, lockedMemory: "unlimited")
        let process = try #require(host.facts().processes.first)
        #expect(process.name == "nfc-tap-libnfc-")
        #expect(process.isProgram("nfc-tap-libnfc-worker"))
        #expect(!process.isProgram("nfc-tap"))
        #expect(process.lockedMemoryLimit == .max)
    }

    @Test(arguments: [
        ("", nil), ("0::/\n", nil), ("0::/system.slice/neard.service\n", "neard.service"),
        ("1:name=systemd:/user.slice/user@1000.service/app.slice/a.service\n0::/\n", "a.service"),
    ])
    func `the unit is the last service of the control group`(text: String, unit: String?) throws {
        let host = try FakeHost()
        try host.run("x", identifier: 5)
        try host.write("proc/5/cgroup", text)
        #expect(host.facts().processes.first?.unit == unit)
    }

    @Test func `accounts that are written wrongly do not exist`() throws {
        let host = try FakeHost()
        try host.write("etc/passwd", "nfc-tapd\n:::\nother:x:five:5\nok:x:5:6:gecos\n")
        try host.write("etc/group", "g:x:\nplain:x:9\nlist:x:8:ok,other,\n")
        let accounts = host.facts().accounts
        #expect(accounts.userID("nfc-tapd") == nil && accounts.userID("other") == nil)
        #expect(accounts.userID("ok") == 5 && accounts.userName(5) == "ok")
        #expect(accounts.groupIDs(ofUser: "ok") == [6, 8])
        #expect(accounts.groupID("g") == nil && accounts.groupID("plain") == 9)
    }

    @Test(arguments: [
        ("pn532_uart:/dev/ttyUSB0", "/dev/ttyUSB0"), ("pn532_uart:/dev/ttyUSB0:115200", "/dev/ttyUSB0"),
        ("pn53x_usb:001:004", nil), ("pn532_uart", nil), ("pn532_uart:COM1", nil), ("", nil),
    ])
    func `the serial port of a connection string`(connection: String, path: String?) {
        #expect(HostFacts.serialPath(connection) == path)
    }

    /// A node's mode, owner and group, and who wants to open it.
    struct Access: Sendable {
        var mode: UInt32
        var owner: UInt32 = 1
        var user: UInt32 = 3
        var groups: Set<UInt32> = []
        var isAllowed: Bool
    }

    @Test(arguments: [
        Access(mode: 0o600, user: 1, isAllowed: true), Access(mode: 0o660, groups: [2], isAllowed: true),
        Access(mode: 0o640, groups: [2], isAllowed: false), Access(mode: 0o666, isAllowed: true),
        // The owner's own bits count, even where others have more; so do the group's.
        Access(mode: 0o066, user: 1, groups: [2], isAllowed: false), Access(mode: 0o606, groups: [2], isAllowed: false),
    ])
    func `rights are those of the first class that fits`(access: Access) {
        let node = HostTree.Attributes(mode: access.mode, userID: access.owner, groupID: 2, modified: 0)
        #expect(node.mayReadAndWrite(userID: access.user, groupIDs: access.groups) == access.isAllowed)
    }

    @Test func `a path too long for a socket is one where nobody listens`() throws {
        #expect(HostTree().socket("/" + String(repeating: "x", count: 200)) == .absent)
    }

    @Test func `a file is read up to a limit, a device without end too`() {
        #expect(HostTree().bytes("/dev/zero").map { $0.count <= 1_100_000 } == true)
        #expect(HostTree().bytes("/no/such/file") == nil)
    }
}
