// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// The program that starts what a backend asks for: its groups, and whether anything shows the amount.
struct RemoteCheckTests {
    private static func host(_ more: String = "", cashiers: String = "") throws -> FakeHost {
        let host = try FakeHost.healthy()
        let users = try #require(host.tree.text("/etc/passwd"))
        let groups = try #require(host.tree.text("/etc/group"))
        let file = try #require(host.tree.text("/etc/nfc-tap/nfc-tapd.toml"))
        try host.write("etc/passwd", users + "nfc-tap-remote:x:978:978::/:/bin/false\n")
        try host.write(
            "etc/group",
            groups.replacing("nfc-tap:x:980:", with: "nfc-tap:x:980:\(cashiers)") + "nfc-tap-remote:x:978:\n")
        try host.write(
            "etc/nfc-tap/nfc-tapd.toml", file + "[remote]\nlanes = [\"till-0\"]\nlimits = { EUR = 5000 }\n" + more)
        return host
    }

    private static func findings(_ host: FakeHost) -> [Finding] { host.checkup().findings(about: .remote) }

    @Test("N6: doctor says that each start of a backend is refused where no display can be open")
    func unseen() throws {
        let finding = try #require(Self.findings(try Self.host()).first)
        #expect(finding.severity == .error && finding.problem.contains("remote.unseen"))
        #expect(finding.remedy.contains("unseen = true"))
        #expect(Self.findings(try Self.host("unseen = true\n")) == [])
        let host = try Self.host()
        try host.write("etc/systemd/system/sockets.target.wants/nfc-tap-gateway.socket")
        #expect(Self.findings(host) == [])
    }

    @Test("N4: doctor names a backend's user that is in a group of tills as well")
    func groups() throws {
        let findings = Self.findings(try Self.host("unseen = true\n", cashiers: "nfc-tap-remote"))
        #expect(findings.count == 1 && findings.first?.problem.contains("user nfc-tap-remote") == true)
    }

    @Test func `a machine without [remote] has nothing to be said of it`() throws {
        #expect(Self.findings(try FakeHost.healthy()) == [])
    }
}
