// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import Doctor

struct SupportBundleTests {
    @Test func `it says how the machine is`() throws {
        let host = try FakeHost.healthy()
        try host.plug("04e6:5591", port: "1-3", kernelDriver: "pn533_usb")
        try host.write("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\n")
        defer { withExtendedLifetime(host) {} }
        let facts = host.facts(pcsc: .readers(["ACS ACR122U PICC Interface 00 00"]))
        let bundle = SupportBundle(facts, findings: Checkup(facts).findings, version: "9.9")
        #expect(bundle.text("versions.txt")?.hasPrefix("nfc-tap 9.9\n") == true)
        #expect(bundle.text("versions.txt")?.contains("Debian") == true)
        #expect(bundle.text("findings.txt")?.contains("error kernel-driver: ") == true)
        #expect(bundle.text("readers.txt")?.contains("SCM SCL3711 at 1-3, /dev/bus/usb/001/005") == true)
        #expect(bundle.text("pcsc.txt") == "ACS ACR122U PICC Interface 00 00\n")
        #expect(bundle.text("processes.txt")?.contains("pcscd 200 uid=0") == true)
        #expect(bundle.text("configuration.txt")?.contains("pcsc:ACR122U") == true)
    }

    @Test func `a card number in the daemon's log does not get into it`() throws {
        let host = try FakeHost.healthy()
        defer { withExtendedLifetime(host) {} }
        let facts = host.facts()
        var bundle = SupportBundle(facts, findings: [], version: "9.9")
        bundle.add("log.txt", "read 4761739001010010 and 4761 7390 0101 0010, 5413-3300-8960-1034\n")
        #expect(
            bundle.text("log.txt") == "read [16 digits removed] and [16 digits removed], [16 digits removed]\n")
    }

    @Test func `names of other programs are left out`() throws {
        let host = try FakeHost.healthy()
        defer { withExtendedLifetime(host) {} }
        try host.run("firefox", identifier: 500)
        let bundle = SupportBundle(host.facts(), findings: [], version: "9.9")
        #expect(bundle.text("processes.txt")?.contains("firefox") == false)
    }

    @Test func `tar takes it apart again`() throws {
        let host = try FakeHost.healthy()
        let bundle = SupportBundle(host.facts(), findings: [], version: "9.9")
        let file = host.root.appending(path: "bundle.tar")
        try Data(bundle.archive(at: 1_700_000_000)).write(to: file)
        let list = ProgramRun(["tar", "--list", "--file", file.path])
        #expect(list.succeeded)
        #expect(list.output == bundle.names.map { "nfc-tap-support/\($0)\n" }.joined())
        let content = ProgramRun(["tar", "-xOf", file.path, "nfc-tap-support/configuration.txt"])
        #expect(content.output == bundle.text("configuration.txt"))
    }
}

struct RedactionTests {
    @Test(arguments: [
        "", "nothing", "2026-11-21 21:08:24 nfc-tapd[1234]: ready", "USB 072f:2200 at 1-2", "mode=660 uid=990",
        "Max locked memory 16777216", "amount 1250 EUR", "12345678901",
    ])
    func `ordinary text stays as it is`(text: String) {
        #expect(Redaction.redact(text) == text)
    }

    @Test(arguments: [
        ("123456789012", "[12 digits removed]"), ("PAN=9900000000000005.", "PAN=[16 digits removed]."),
        ("5A089900000000000005", "[20 digits removed]"),
        ("9F2608 0123 4567 89AB CDEF 9F27 01 80", "[30 digits removed]"),
        ("9900000000000005D31122011", "[25 digits removed]"), ("x 9900000000000005 y", "x [16 digits removed] y"),
        ("card9900000000000005", "[word with a number removed]"),
    ])
    func `what could be of a card goes`(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
    }

    @Test func `digits of other scripts do not get past it unseen`() {
        // Only ASCII digits are what a program of ours prints; others end a run.
        #expect(Redaction.redact("٤٧٦١") == "٤٧٦١")
    }
}

struct FixTests {
    @Test func `nothing is run for a machine that is not this one`() throws {
        let host = try FakeHost()
        #expect(!Fix.run(["true"]).apply(to: host.tree) { _ in true })
        #expect(Fix.run(["true"]).apply(to: HostTree()) { $0 == ["true"] })
    }

    @Test func `the second program runs only after the first has succeeded`() {
        for succeeds in [true, false] {
            var ran: [[String]] = []
            let done = Fix.run(["first"], then: ["second"]).apply(to: HostTree()) { words in
                ran.append(words)
                return succeeds
            }
            #expect(done == succeeds)
            #expect(ran == (succeeds ? [["first"], ["second"]] : [["first"]]))
        }
    }

    @Test func `a file is written below the root`() throws {
        let host = try FakeHost()
        try host.write("etc/old", "what was there before and is longer")
        #expect(Fix.write(path: "/etc/old", text: "new\n").apply(to: host.tree) { _ in false })
        #expect(host.tree.text("/etc/old") == "new\n")
    }

    @Test func `a file in a folder that is not there is not written`() throws {
        let host = try FakeHost()
        #expect(!Fix.write(path: "/none/file", text: "x").apply(to: host.tree) { _ in true })
    }

    @Test func `a link is not followed, so that nobody else's file is written`() throws {
        let host = try FakeHost()
        try host.write("victim", "kept")
        try host.link("etc/file", to: host.root.path + "/victim")
        #expect(!Fix.write(path: "/etc/file", text: "x").apply(to: host.tree) { _ in true })
        #expect(host.tree.text("/victim") == "kept")
    }

    @Test func `a program's output and end are seen`() {
        #expect(ProgramRun(["echo", "a b"]).output == "a b\n")
        #expect(ProgramRun(["true"]).succeeded)
        #expect(!ProgramRun(["false"]).succeeded)
        #expect(!ProgramRun(["no-such-program-anywhere"]).succeeded)
        #expect(!ProgramRun([]).succeeded)
    }

    @Test func `the polkit rule that is written is the one that the package installs`() throws {
        #expect(try Checkout.text("systemd/nfc-tap-polkit.rules") == HostFacts.polkitText)
    }
}
