// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// The gateway for browsers: accounts, port, configuration, and what browsers ask their users.
struct GatewayCheckTests {
    /// Lines of a Debian kernel's file (6.1), with another port.
    private static let head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private static func row(_ address: String, _ state: String = "0A", uid: UInt32 = 0) -> String {
        "   0: \(address):220C 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  \(uid)        0 13571 1 "
            + "0000000000000000 100 0 0 10 0\n"
    }

    private static func host(_ rows: String = row("0100007F"), isOn: Bool = true) throws -> FakeHost {
        let host = try FakeHost.healthy()
        try host.write("lib/systemd/system/nfc-tap-gateway.service")
        let users = try #require(host.tree.text("/etc/passwd"))
        let groups = try #require(host.tree.text("/etc/group"))
        try host.write("etc/passwd", users + "nfc-tap-gateway:x:992:992::/:/bin/false\n")
        try host.write("etc/group", groups + "nfc-tap-gateway:x:992:\n")
        if isOn { try host.write("etc/systemd/system/sockets.target.wants/nfc-tap-gateway.socket") }
        try host.write("proc/net/tcp", head + rows)
        for page in ["till.html", "display.html"] { try host.write("usr/share/nfc-tap/till/\(page)") }
        return host
    }

    private static func findings(_ host: FakeHost) -> [Finding] { host.checkup().findings(about: .gateway) }

    @Test func `a gateway that listens on loopback is in order`() throws {
        #expect(Self.findings(try Self.host()) == [])
        #expect(Self.findings(try Self.host(Self.row("0100007F", uid: 992))) == [])
    }

    @Test func `a gateway that nobody has switched on is no matter`() throws {
        #expect(Self.findings(try Self.host("", isOn: false)) == [])
    }

    @Test("D1: doctor says which page is missing, and where, whichever folder is configured")
    func pages() throws {
        let host = try Self.host()
        try host.remove("usr/share/nfc-tap/till/display.html")
        let finding = try #require(Self.findings(host).first)
        #expect(finding.severity == .error)
        #expect(finding.problem.contains("display.html") && !finding.problem.contains("till.html"))
        #expect(finding.problem.contains("/usr/share/nfc-tap/till") && finding.remedy.contains("reinstall"))
        try host.write("etc/nfc-tap/nfc-tap-gateway.toml", "pages = \"/srv/pages\"\n")
        let both = Self.findings(host).map(\.problem)
        #expect(both.count == 1 && both[0].contains("till.html and display.html missing in /srv/pages"), "\(both)")
        for page in ["till.html", "display.html"] { try host.write("srv/pages/\(page)") }
        #expect(Self.findings(host) == [])
        // Where nobody has switched it on, nobody opens a page.
        let off = try Self.host("", isOn: false)
        try off.remove("usr/share/nfc-tap/till/till.html")
        #expect(Self.findings(off) == [])
    }

    @Test func `a machine without it has nothing to be said of it`() throws {
        let host = try FakeHost.healthy()
        try host.write("proc/net/tcp", Self.head + Self.row("00000000", uid: 1_000))
        #expect(Self.findings(host) == [])
    }

    @Test(arguments: ["", row("0100007F", "01")])
    func `a port at which nobody listens is an error that can be mended`(rows: String) throws {
        let finding = try #require(Self.findings(try Self.host(rows)).first)
        #expect(finding.severity == .error && finding.problem.contains("127.0.0.1:8716"))
        #expect(finding.fix?.description == finding.remedy)
    }

    @Test func `a port that somebody else has taken is an error, with his name`() throws {
        let host = try Self.host(Self.row("0100007F", uid: 991))
        #expect(Self.findings(host).map(\.problem) == ["a program of pcscd has taken port 8716"])
    }

    @Test(arguments: ["00000000", "0A01A8C0"])
    func `a port that other machines reach is an error`(address: String) throws {
        let finding = try #require(Self.findings(try Self.host(Self.row(address))).first)
        #expect(finding.severity == .error && finding.problem.contains("from other machines"))
    }

    @Test func `the same is held against IPv6`() throws {
        let host = try Self.host()
        try host.write("proc/net/tcp6", Self.head + Self.row("00000000000000000000000001000000"))
        #expect(Self.findings(host) == [])
        try host.write("proc/net/tcp6", Self.head + Self.row("00000000000000000000000000000000"))
        #expect(Self.findings(host).count == 1)
    }

    @Test func `a missing group and a gateway that is a cashier are errors`() throws {
        let host = try Self.host()
        let groups = try #require(host.tree.text("/etc/group"))
        try host.write("etc/group", groups.replacing("nfc-tap:x:980:", with: "nfc-tap:x:980:nfc-tap-gateway"))
        #expect(Self.findings(host).first?.problem.contains("cashier without a till") == true)
        try host.write("etc/group", groups.replacing("nfc-tap-gateway:x:992:\n", with: ""))
        #expect(Self.findings(host).first?.fix == .run(["systemd-sysusers", "nfc-tap.conf"]))
    }

    @Test func `a wrong configuration is told with its line`() throws {
        let host = try Self.host()
        try host.write("etc/nfc-tap/nfc-tap-gateway.toml", "\norigins = [\"https://pos.example/\"]\n")
        let finding = try #require(Self.findings(host).first)
        #expect(finding.problem.hasPrefix("/etc/nfc-tap/nfc-tap-gateway.toml:2: origins "))
    }

    @Test func `a web POS and Chromium without a policy are worth a note, and a policy answers it`() throws {
        let host = try Self.host()
        try host.write("etc/nfc-tap/nfc-tap-gateway.toml", "origins = [\"https://pos.example\"]\n")
        #expect(Self.findings(host) == [], "no Chromium here")
        try host.write("usr/bin/chromium", mode: 0o755)
        let finding = try #require(Self.findings(host).first)
        #expect(finding.severity == .note && finding.problem.contains("https://pos.example"))
        try host.write(
            "etc/chromium/policies/managed/nfc-tap.json",
            "{\"LocalNetworkAccessAllowedForUrls\":[\"https://pos.example\"]}")
        #expect(Self.findings(host) == [])
        try host.write("etc/chromium/policies/managed/nfc-tap.json", "{}")
        try host.write("etc/nfc-tap/nfc-tap-gateway.toml", "origins = [\"http://127.0.0.1:3000\"]\n")
        #expect(Self.findings(host) == [], "a page of this machine asks nobody")
    }

    @Test(
        "T5: Chrome and Edge are looked at like Chromium, each with the folder of its own policies",
        arguments: [
            ("opt/google/chrome/chrome", "etc/opt/chrome", "Chrome"),
            ("usr/bin/google-chrome", "etc/opt/chrome", "Chrome"),
            ("usr/bin/microsoft-edge", "etc/opt/edge", "Edge"), ("usr/bin/chromium", "etc/chromium", "Chromium"),
        ])
    func `browsers`(program: String, policies: String, name: String) throws {
        let host = try Self.host()
        try host.write("etc/nfc-tap/nfc-tap-gateway.toml", "origins = [\"https://pos.example\"]\n")
        try host.write(program, mode: 0o755)
        let findings = Self.findings(host)
        #expect(findings.count == 1 && findings.first?.problem.hasPrefix("\(name) asks") == true, "\(findings)")
        #expect(findings.first?.remedy.contains("/\(policies)/policies/managed") == true)
        let granted = "{\"LoopbackNetworkAllowedForUrls\":[\"https://pos.example\"]}"
        try host.write("etc/other/policies/managed/nfc-tap.json", granted)
        #expect(Self.findings(host).count == 1, "another browser's folder")
        try host.write("\(policies)/policies/managed/nfc-tap.json", granted)
        #expect(Self.findings(host) == [])
    }
}
