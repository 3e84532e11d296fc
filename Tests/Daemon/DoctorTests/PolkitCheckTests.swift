// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// Whom pcscd refuses, and why.
struct PolkitCheckTests {
    private static let policy = "usr/share/polkit-1/actions/org.debian.pcsc-lite.policy"
    private static let rules = "etc/polkit-1/rules.d/50-nfc-tap.rules"

    private func hostWithPolkit() throws -> FakeHost {
        let host = try FakeHost.healthy()
        try host.write(Self.policy)
        return host
    }

    @Test("R18: a rule in a comment gives nobody access", arguments: ["// ", "/*\n", "var a = 1 / 2; // "])
    func comment(before: String) throws {
        let host = try hostWithPolkit()
        let rule = HostFacts.polkitText.replacing("\n", with: before.hasPrefix("/*") ? "\n" : " ")
        try host.write(Self.rules, before + rule)
        let finding = try #require(host.checkup().findings(about: .polkit).first)
        #expect(finding.severity == .error && finding.problem.hasPrefix("no polkit rule gives nfc-tapd access"))
        #expect(try #require(finding.fix).apply(to: host.tree) { _ in false })
        #expect(host.checkup().findings(about: .polkit).isEmpty)
    }

    @Test("R18: a rule that polkitd may not read is named with the mode that it needs")
    func mode() throws {
        let host = try hostWithPolkit()
        try host.write(Self.rules, HostFacts.polkitText, mode: 0o600)
        let finding = try #require(host.checkup().findings(about: .polkit).first)
        #expect(finding.problem.hasPrefix("polkit cannot read /\(Self.rules)"))
        #expect(finding.fix == .run(["chmod", "0644", "/\(Self.rules)"]))
    }

    @Test("R18: pcscd's answer to the daemon's user counts, whatever the files say")
    func answer() throws {
        let host = try hostWithPolkit()
        host.pcscForDaemon = .readers([])
        #expect(host.checkup().findings(about: .polkit).isEmpty, "some other rule gives it access")
        host.pcscForDaemon = .accessDenied
        #expect(host.checkup().findings(about: .polkit).first?.problem.hasPrefix("no polkit rule") == true)
        // What stands in it is no JavaScript that polkit takes.
        try host.write(Self.rules, HostFacts.polkitText.replacing("});", with: "}"))
        let finding = try #require(host.checkup().findings(about: .polkit).first)
        #expect(finding.severity == .error && finding.problem.contains("though /\(Self.rules) seems to allow it"))
        #expect(finding.remedy.contains("journalctl -u polkit"))
    }

    @Test("R18: rules that this user may not look at are not said to be missing")
    func hidden() throws {
        let host = try hostWithPolkit()
        // Root, who runs the tests, may look into every folder, and nobody into a file.
        try host.write("etc/polkit-1/rules.d")
        let finding = try #require(host.checkup(userID: 1_000).findings(about: .polkit).first)
        #expect(finding.severity == .note && finding.problem.hasPrefix("only root can see"))
        #expect(finding.remedy == "run nfc-tap doctor as root" && finding.fix == nil)
    }

    @Test("R19: whom pcscd refuses, nobody tells that no reader is connected")
    func unknownReaders() throws {
        let host = try FakeHost.healthy()
        try host.remove("sys")
        #expect(host.checkup(pcsc: .accessDenied).findings(about: .backend).isEmpty)
        #expect(host.checkup(pcsc: .readers([])).findings(about: .backend).map(\.severity) == [.error])
    }

    @Test("R19: root is not told to run as root")
    func root() throws {
        let host = try FakeHost.healthy()
        let user = try #require(host.checkup(pcsc: .accessDenied, userID: 1_000).findings(about: .polkit).first)
        #expect(user.remedy.contains("run as root"))
        // pcscd of Debian 12 asks nobody.
        let plain = host.checkup(pcsc: .accessDenied)
        #expect(plain.findings(about: .pcscd).first?.remedy.hasPrefix("systemctl restart pcscd") == true)
        #expect(!plain.findings.contains { $0.remedy.contains("as root") })
    }

    @Test("R19: where polkit cannot be asked, root is told of D-Bus, of polkit, and of containers")
    func withoutBus() throws {
        let host = try hostWithPolkit()
        try host.write(Self.rules, HostFacts.polkitText)
        let without = try #require(host.checkup(pcsc: .accessDenied).findings(about: .polkit).first)
        #expect(without.problem.contains("D-Bus is not running"))
        #expect(without.remedy.contains("PCSCD_ARGS=--disable-polkit"))
        try host.socket("run/dbus/system_bus_socket")
        let with = try #require(host.checkup(pcsc: .accessDenied).findings(about: .polkit).first)
        #expect(with.remedy.hasPrefix("systemctl restart polkit") && with.remedy.contains("--disable-polkit"))
        #expect(!with.problem.contains("D-Bus"))
    }

    @Test("R19: a pcscd with two hundred connections is full, and who has them is named")
    func full() throws {
        let host = try hostWithPolkit()
        try host.write(Self.rules, HostFacts.polkitText)
        host.pcscClients = (1_000..<1_200).map { $0 }
        try host.run("leaky", identifier: 500, opens: host.pcscClients.map { "socket:[\($0)]" })
        let finding = try #require(host.checkup(pcsc: .accessDenied).findings(about: .pcscd).first)
        #expect(finding.problem.contains("200 connections") && finding.remedy.contains("leaky (process 500)"))
        host.pcscClients.removeLast()
        #expect(host.checkup(pcsc: .accessDenied).findings(about: .pcscd).isEmpty)
    }

    @Test("R19: a full pcscd is told as that to every user and of the daemon, and not as polkit's refusal")
    func fullForOthers() throws {
        let host = try hostWithPolkit()
        host.pcscClients = (1_000..<1_200).map { $0 }
        let user = host.checkup(pcsc: .accessDenied, userID: 1_000)
        #expect(user.findings(about: .pcscd).first?.problem.contains("200 connections") == true)
        #expect(user.findings(about: .polkit).isEmpty)
        host.pcscForDaemon = .accessDenied
        let daemon = host.checkup(pcsc: .readers([]))
        #expect(daemon.findings(about: .pcscd).first?.problem.contains("200 connections") == true)
        // The rule that --fix would write helps nobody.
        #expect(daemon.findings(about: .polkit).isEmpty)
        host.pcscClients = []
        #expect(!host.checkup(pcsc: .readers([])).findings(about: .polkit).isEmpty)
    }

    @Test(
        "R23: a full pcscd that libpcsclite takes for one that does not run is told as full, and is not to be started")
    func fullWithoutService() throws {
        let host = try FakeHost.healthy()
        host.pcscClients = (1_000..<1_200).map { $0 }
        let found = host.checkup(pcsc: .notRunning).findings(about: .pcscd)
        #expect(found.count == 1)
        #expect(found.first?.problem.contains("200 connections") == true)
        host.pcscForDaemon = .notRunning
        let daemon = host.checkup(pcsc: .readers([])).findings(about: .pcscd)
        #expect(daemon.first?.problem.contains("200 connections") == true)
        host.pcscClients.removeLast()
        #expect(host.checkup(pcsc: .notRunning).findings(about: .pcscd).first?.problem == "pcscd does not answer")
    }

    @Test("R20: a pcscd of another version is told as that, of this program and of the daemon")
    func otherVersion() throws {
        let host = try FakeHost.healthy()
        let found = host.checkup(pcsc: .otherVersion).findings(about: .pcscd)
        #expect(found.count == 1 && found.first?.severity == .error)
        #expect(found.first?.problem.contains("different versions") == true)
        #expect(found.first?.remedy.contains("restart") == true)
        // Which readers there are pcscd has not said.
        #expect(host.checkup(pcsc: .otherVersion).findings(about: .backend).allSatisfy { $0.severity != .error })
    }

    /// connect(2): a socket that blocks waits for a place in the queue.
    @Test("A5: a server that takes nobody from its full queue does not hold the doctor up, and it listens")
    func fullQueue() throws {
        let host = try FakeHost.healthy()
        try host.remove("proc/200")
        try host.socket("run/pcscd/pcscd.comm", room: 0)
        // The first one fills it.
        for _ in 0..<4 { #expect(host.checkup().findings(about: .pcscd).isEmpty) }
    }
}
