// SPDX-License-Identifier: Apache-2.0
import PaymentValues
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

    @Test("B12: doctor says what the backend's program says of itself: no answer, clocks, results that nobody takes")
    func backends() throws {
        let host = try Self.host("unseen = true\n")
        let now: Int64 = 1_800_000_000
        func said(_ more: String, answer: Int64 = 20) throws -> [Finding] {
            let time = Timestamp(milliseconds: (now - answer) * 1_000)
            try host.write(
                "run/nfc-tap-remote/status.json",
                #"[{"name":"shop","lastAnswer":"\#(time)","refused":{},\#(more)}]"#)
            return Self.findings(host)
        }
        #expect(try said(#""clockHolds":true,"untold":0"#) == [])
        #expect(try said(#""clockHolds":true,"untold":2,"untoldSince":\#(now - 60)"#) == [])
        let untold = try #require(try said(#""clockHolds":true,"untold":2,"untoldSince":\#(now - 1200)"#).first)
        #expect(
            untold.severity == .warning && untold.problem.contains("2 results") && untold.problem.contains("20 minutes")
        )
        let clocks = try #require(try said(#""clockHolds":false,"untold":0"#).first)
        #expect(clocks.severity == .error && clocks.problem.contains("30 s"))
        let trouble = try #require(try said(#""clockHolds":true,"untold":0,"trouble":"status 503""#).first)
        #expect(trouble.problem.contains("the backend shop") && trouble.problem.contains("status 503"))
        let silent = try said(#""clockHolds":true,"untold":0"#, answer: 500)
        #expect(silent.count == 1 && silent.first?.problem.contains("for 500 s") == true)
        try host.write("run/nfc-tap-remote/status.json", "{")
        #expect(Self.findings(host).first?.severity == .warning)
    }

    @Test func `a machine without [remote] has nothing to be said of it`() throws {
        #expect(Self.findings(try FakeHost.healthy()) == [])
    }
}
