// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// Who else uses pcscd.
struct SharedReaderCheckTests {
    private static let reader = "ACS ACR122U PICC Interface 00 00"

    @Test("R9: a program that is connected to pcscd is named, and so is a reader that is in use")
    func clients() throws {
        let host = try FakeHost.healthy()
        try host.run("scdaemon", identifier: 400, userID: 1_000, opens: ["socket:[77]"], unit: "gpg-agent.service")
        host.pcscClients = [77]
        let idle = try #require(host.checkup(pcsc: .readers([Self.reader])).findings(about: .holder).first)
        #expect(idle.severity == .warning && idle.problem.contains("scdaemon (process 400) is connected to pcscd"))
        #expect(idle.remedy.hasPrefix("systemctl stop gpg-agent.service"))
        let busy = try #require(
            host.checkup(pcsc: .readers([Self.reader], inUse: [Self.reader])).findings(about: .holder).first)
        #expect(busy.severity == .error && busy.problem.hasPrefix("\(Self.reader) is in use, and scdaemon"))
    }

    @Test("R9: the daemon's own connection, and sockets of others, are nobody's hold")
    func noClients() throws {
        let host = try FakeHost.healthy()
        try host.run("nfc-tapd", identifier: 300, userID: 990, opens: ["socket:[70]"])
        try host.run("pcscd", identifier: 200, opens: [FakeHost.node, "socket:[71]"])
        try host.run("dbus-daemon", identifier: 401, opens: ["socket:[1]", "socket:[x]", "socket:[]"])
        host.pcscClients = [70, 71]
        let answer = PCSCAnswer.readers([Self.reader], inUse: [Self.reader])
        #expect(host.checkup(pcsc: answer).findings(about: .holder).isEmpty)
    }

    @Test("R9: whose lanes do without pcscd, its clients are none of theirs")
    func elsewhere() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn53x_usb"])
        try host.run("scdaemon", identifier: 400, opens: ["socket:[77]"])
        host.pcscClients = [77]
        #expect(host.checkup().findings(about: .holder).isEmpty)
    }
}
