// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import POSAPI
import PaymentValues
import Testing

@testable import Doctor

/// Clock, configuration, key, adapter, accounts, the daemon and its limits, the worker.
struct DaemonCheckTests {
    private static let now: Int64 = 1_800_000_000
    private static let day: Int64 = 24 * 60 * 60

    @Test func `a clock behind the newest file is an error`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/ld.so.cache", modified: Self.now + 3 * Self.day)
        let finding = try #require(host.checkup(now: Self.now).findings(about: .clock).first)
        #expect(finding.severity == .error)
        #expect(finding.problem.contains("/etc/ld.so.cache is 3 days newer"))
    }

    @Test func `a file of an hour ahead is no matter`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/ld.so.cache", modified: Self.now + 3_600)
        #expect(host.checkup(now: Self.now).findings(about: .clock).isEmpty)
    }

    @Test func `a clock that nothing keeps is a warning`() throws {
        let host = try FakeHost.healthy()
        try host.remove("run/systemd/timesync/synchronized")
        #expect(host.checkup().findings(about: .clock).map(\.severity) == [.warning])
    }

    @Test(arguments: ["chronyd", "systemd-timesyncd", "ntpd"])
    func `a clock that a service keeps is in order`(service: String) throws {
        let host = try FakeHost.healthy()
        try host.remove("run/systemd/timesync/synchronized")
        try host.run(service, identifier: 77)
        #expect(host.checkup().findings(about: .clock).isEmpty)
    }

    @Test func `a configuration that cannot be read is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("etc/nfc-tap/nfc-tapd.toml")
        #expect(host.checkup().findings(about: .configuration).map(\.severity) == [.error])
    }

    @Test func `a configuration that is not TOML is an error, and the rest is still checked`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/nfc-tap/nfc-tapd.toml", "mode = test\n")
        try host.remove("proc/300")
        let checkup = host.checkup()
        #expect(checkup.findings(about: .configuration).map(\.severity) == [.error])
        #expect(checkup.findings(about: .daemon).map(\.severity) == [.error])
    }

    @Test func `a configuration that everybody may write is a warning`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/nfc-tap/nfc-tapd.toml", "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n", mode: 0o666)
        #expect(host.checkup().findings(about: .configuration).map(\.severity) == [.warning])
    }

    @Test func `commands to a card that are allowed are a warning, until they are switched off again`() throws {
        let host = try FakeHost.healthy()
        for (value, severities) in [("true", [Finding.Severity.warning]), ("false", [])] {
            try host.write(
                "etc/nfc-tap/nfc-tapd.toml",
                "[diagnostics]\ncard-commands = \(value)\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
            #expect(host.checkup().findings(about: .configuration).map(\.severity) == severities)
        }
    }

    @Test func `another configuration file is read where one is named`() throws {
        let host = try FakeHost.healthy()
        try host.write(
            "srv/tap.toml", "[psp]\nsocket = \"/srv/psp.sock\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        let finding = try #require(
            host.checkup(configuration: "/srv/tap.toml").findings(about: .adapter).first)
        #expect(finding.problem.contains("/srv/psp.sock"))
    }

    private static let live = """
        mode = "live"
        [profile]
        key = "/etc/nfc-tap/profile.jwk"
        [live]
        acknowledgement = "We may take live cards for merchant M-4711, and our acquirer agrees to this reader."
        [[lane]]
        name = "till-1"
        reader = "pcsc:ACR122U"

        """

    @Test func `a regular live configuration, whose keys come with the signed profile, gives no alarm`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/nfc-tap/profile.jwk", SigningKey().verificationKey.jwk)
        try host.write("etc/nfc-tap/nfc-tapd.toml", Self.live)
        #expect(host.checkup().findings == [])
        // The same machine in test mode does have something to tell: the check looks.
        try host.write("etc/nfc-tap/nfc-tapd.toml", Self.live.replacing("mode = \"live\"", with: "mode = \"test\""))
        #expect(host.checkup().findings.map(\.subject) == [.recipientKey])
    }

    @Test func `what the daemon would refuse is told with its line, all of it`() throws {
        let host = try FakeHost.healthy()
        try host.write(
            "etc/nfc-tap/nfc-tapd.toml", Self.live + "feedback = \"loud\"\n[groups]\nadmin = \"none-such\"\n")
        let findings = host.checkup().findings(about: .configuration)
        #expect(findings.map(\.severity) == [.error, .error, .error])
        for (finding, start) in zip(findings, ["3: profile.key ", "9: lane[0].feedback ", "11: groups.admin "]) {
            #expect(finding.problem.hasPrefix("/etc/nfc-tap/nfc-tapd.toml:" + start), "\(finding.problem)")
            #expect(!finding.remedy.isEmpty)
        }
    }

    @Test func `a key that only the daemon may read is a note to everybody else`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/nfc-tap/nfc-tapd.toml", Self.live)
        #expect(host.checkup(userID: 1_000).findings(about: .configuration).map(\.severity) == [.note])
    }

    /// The public key of RFC 7517, appendix A.1, with other members.
    private func key(_ members: [String: Any]) throws -> String {
        var jwk: [String: Any] = [
            "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        ]
        jwk.merge(members) { $1 }
        return String(decoding: try JSONSerialization.data(withJSONObject: jwk), as: UTF8.self)
    }

    private func keyFindings(_ members: [String: Any]) throws -> [Finding] {
        let host = try FakeHost.healthy(psp: "recipient-key = \"/etc/nfc-tap/psp.jwk\"")
        try host.write("etc/nfc-tap/psp.jwk", try key(members))
        return host.checkup(now: Self.now).findings(about: .recipientKey)
    }

    @Test func `a key of a payment service in its period is in order`() throws {
        #expect(try keyFindings(["kid": "psp-1", "exp": Self.now + 90 * Self.day]).isEmpty)
    }

    @Test func `an expired key is an error`() throws {
        #expect(try keyFindings(["kid": "psp-1", "exp": Self.now - 1]).map(\.severity) == [.error])
    }

    @Test func `a key that is not valid yet is an error`() throws {
        #expect(try keyFindings(["kid": "psp-1", "nbf": Self.now + Self.day]).map(\.severity) == [.error])
    }

    @Test func `a key of its last days is a warning with their number`() throws {
        let finding = try #require(try keyFindings(["kid": "psp-1", "exp": Self.now + 3 * Self.day]).first)
        #expect(finding.severity == .warning)
        #expect(finding.problem.contains("3 days"))
    }

    @Test func `a published test key is a warning`() throws {
        #expect(try keyFindings(["kid": "test-x"]).map(\.severity) == [.warning])
    }

    @Test func `a private key on this machine has to go at once`() throws {
        let finding = try #require(try keyFindings(["kid": "psp-1", "d": "AAAA"]).first)
        #expect(finding.severity == .error)
        #expect(finding.remedy.hasPrefix("remove it from this machine"))
    }

    @Test func `a key file that is not there is an error for root`() throws {
        let host = try FakeHost.healthy(psp: "recipient-key = \"/etc/nfc-tap/none.jwk\"")
        #expect(host.checkup(userID: 0).findings(about: .recipientKey).map(\.severity) == [.error])
        #expect(host.checkup(userID: 1_000).findings(about: .recipientKey).map(\.severity) == [.note])
    }

    @Test func `an adapter's socket that is missing or left behind is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("run/nfc-tap/psp.sock")
        #expect(host.checkup().findings(about: .adapter).first?.problem.contains("psp.sock is missing") == true)
        try host.socket("run/nfc-tap/psp.sock", isListening: false)
        #expect(host.checkup().findings(about: .adapter).first?.problem.contains("has stopped") == true)
    }

    @Test func `an adapter's socket that the daemon may not open is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("run/nfc-tap/psp.sock")
        try host.socket("run/nfc-tap/psp.sock", mode: 0o600)
        #expect(host.checkup().findings(about: .adapter).first?.problem.contains("has no access") == true)
    }

    @Test func `missing users and groups are made`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n")
        let finding = try #require(host.checkup().findings(about: .accounts).first)
        #expect(finding.problem.contains("nfc-tapd"))
        #expect(finding.fix == .run(["systemd-sysusers", "nfc-tap.conf"]))
    }

    @Test func `a daemon outside the adapters' group is an error`() throws {
        let host = try FakeHost.healthy()
        let group = try #require(host.tree.text("/etc/group"))
        try host.write("etc/group", group.replacing("nfc-tap-psp:x:981:nfc-tapd", with: "nfc-tap-psp:x:981:"))
        #expect(
            host.checkup().findings(about: .accounts).first?.remedy.hasPrefix("usermod --append") == true)
    }

    @Test func `a missing folder of sockets is made`() throws {
        let host = try FakeHost.healthy()
        try host.remove("run/nfc-tap")
        let finding = try #require(host.checkup().findings(about: .accounts).first)
        #expect(finding.fix == .run(["systemd-tmpfiles", "--create", "nfc-tap.conf"]))
    }

    @Test func `a daemon that does not run is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("proc/300")
        let finding = try #require(host.checkup().findings(about: .daemon).first)
        #expect(finding.severity == .error)
        // Somebody may have stopped it on purpose.
        #expect(finding.fix == nil)
    }

    @Test func `a daemon that nobody reaches is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("run/nfc-tap/pos.sock")
        #expect(host.checkup().findings(about: .daemon).map(\.severity) == [.error])
    }

    @Test func `a machine without the service gets a note, and no checks of it`() throws {
        let host = try FakeHost.healthy()
        try host.remove("lib/systemd/system/nfc-tapd.service")
        try host.remove("etc/nfc-tap")
        try host.remove("etc/passwd")
        try host.remove("proc/300")
        #expect(host.checkup().findings.map(\.subject) == [.daemon])
    }

    @Test func `too little locked memory is a warning`() throws {
        let host = try FakeHost.healthy()
        try host.run("nfc-tapd", identifier: 301, lockedMemory: "65536")
        let finding = try #require(host.checkup().findings(about: .memoryLock).first)
        #expect(finding.problem.contains("process 301") && finding.problem.contains("64 KiB"))
    }

    @Test(arguments: ["nfc-tapd", "nfc-tap-libnfc-worker"])
    func `core dumps of a process with card data are an error`(program: String) throws {
        let host = try FakeHost.healthy()
        try host.run(program, identifier: 301, coreFile: "unlimited")
        #expect(host.checkup().findings(about: .coreDumps).map(\.severity) == [.error])
    }

    @Test func `core dumps of other programs are their own matter`() throws {
        let host = try FakeHost.healthy()
        try host.run("bash", identifier: 301, lockedMemory: "0", coreFile: "unlimited")
        let checkup = host.checkup()
        #expect(checkup.findings(about: .coreDumps).isEmpty && checkup.findings(about: .memoryLock).isEmpty)
    }

    @Test func `a missing worker is an error where a lane needs it`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn53x_usb"])
        #expect(host.checkup().findings(about: .worker).map(\.severity) == [.error])
        try host.write("usr/libexec/nfc-tap/nfc-tap-libnfc-worker", mode: 0o755)
        #expect(host.checkup().findings(about: .worker).isEmpty)
        #expect(try FakeHost.healthy().checkup().findings(about: .worker).isEmpty)
    }

    @Test("D2: whoever names a configuration hears of its adapter, installed or not")
    func adapter() throws {
        let host = try FakeHost.healthy()
        try host.remove("lib/systemd/system/nfc-tapd.service")
        try host.write(
            "srv/tap.toml",
            "mode = \"test\"\n[psp]\nsocket = \"/srv/psp.sock\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        func finding() -> Finding? { host.checkup(configuration: "/srv/tap.toml").findings(about: .adapter).first }
        #expect(finding()?.problem == "the adapter's socket /srv/psp.sock is missing")
        try host.socket("srv/psp.sock", isListening: false)
        #expect(finding()?.problem == "the adapter of /srv/psp.sock has stopped")
        try host.remove("srv/psp.sock")
        try host.socket("srv/psp.sock", mode: 0o666)
        #expect(finding() == nil)
        #expect(host.checkup().findings(about: .adapter).isEmpty, "nothing is installed that would need one")
    }

    @Test("W23: what the daemon says of a journal that cannot be written, or is damaged, is found, with what to do")
    func journal() {
        var journal = Status.Journal(writable: true, damaged: [])
        journal.auditFaults = []
        #expect(HostFacts.journal(journal).isEmpty && HostFacts.journal(nil).isEmpty)
        for code in [ErrorCode.storageFull, .storageFailed] {
            journal.writable = false
            journal.error = ErrorDetail(code)
            journal.cause = "its disk is in the well: fetch it"
            let found = HostFacts.journal(journal)
            #expect(found.map(\.severity) == [.error] && found.first?.remedy == journal.error?.resolution)
            #expect(
                found.first?.problem.contains(
                    "no sale can be taken (\(code.rawValue)): its disk is in the well: fetch it") == true)
        }
        (journal.error, journal.damaged, journal.auditFaults) = (
            nil, ["row 7", "business_day D-1"], ["entry 5 altered"]
        )
        let found = HostFacts.journal(journal)
        #expect(found.count == 2 && found.allSatisfy { $0.severity == .error && !$0.remedy.isEmpty })
        #expect(found.first?.problem.contains("row 7, business_day D-1") == true)
    }

    @Test func `a till's ledger that was damaged is told of until its copy is removed`() throws {
        let host = try FakeHost.healthy()
        try host.write("var/lib/nfc-tap-ecr/counter.ledger", "x")
        #expect(host.checkup().findings(about: .tills) == [])
        try host.write("var/lib/nfc-tap-ecr/counter.ledger.damaged", "x")
        let finding = try #require(host.checkup().findings(about: .tills).first)
        #expect(finding.severity == .error && finding.problem.contains("the till counter was damaged"))
        #expect(finding.remedy.hasSuffix("/var/lib/nfc-tap-ecr/counter.ledger.damaged"))
    }
}
