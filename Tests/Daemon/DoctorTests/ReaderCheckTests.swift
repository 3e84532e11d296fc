// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// Kernel drivers, device files, pcscd, polkit, holders, backends.
struct ReaderCheckTests {
    @Test func `a machine as it should be has nothing but the test key to report`() throws {
        let checkup = try FakeHost.healthy().checkup(pcsc: .readers(["ACS ACR122U PICC Interface 00 00"]))
        #expect(checkup.findings.map(\.subject) == [.recipientKey])
        #expect(!checkup.hasErrors)
    }

    @Test func `a reader that the kernel has claimed is named with the command that frees it`() throws {
        let host = try FakeHost.healthy()
        try host.plug("04e6:5591", port: "1-3", kernelDriver: "pn533_usb")
        let finding = try #require(host.checkup().findings(about: .kernelDriver).first)
        #expect(finding.severity == .error)
        #expect(finding.problem.contains("SCM SCL3711") && finding.problem.contains("1-3"))
        #expect(finding.fix == .run(["modprobe", "-r", "pn533_usb", "pn533", "nfc"]))
    }

    @Test func `a reader of pcscd that the kernel had claimed is shown to pcscd again`() throws {
        let host = try FakeHost.healthy()
        try host.plug("072f:2200", port: "1-3", kernelDriver: "pn533_usb")
        let finding = try #require(host.checkup().findings(about: .kernelDriver).first)
        #expect(
            finding.remedy == "modprobe -r pn533_usb pn533 nfc && "
                + "udevadm trigger --action=add --subsystem-match=usb --sysname-match=1-3:*")
        #expect(finding.fix?.description == finding.remedy)
    }

    @Test func `a program's hold on a reader by usbfs is no kernel driver`() throws {
        let host = try FakeHost.healthy()
        try host.plug("072f:2200", port: "1-3", kernelDriver: "usbfs")
        #expect(host.checkup().findings(about: .kernelDriver).isEmpty)
    }

    @Test func `a loaded module is a warning while no reader is claimed`() throws {
        let host = try FakeHost.healthy()
        try host.write("proc/modules", "pn533_usb 20480 0 - Live 0x0\nnfc 163840 1 pn533_usb, Live 0x0\n")
        #expect(host.checkup().findings(about: .kernelDriver).map(\.severity) == [.warning])
    }

    @Test func `a missing blacklist is written where a reader could be claimed`() throws {
        let host = try FakeHost.healthy()
        try host.remove("etc/modprobe.d/blacklist-libnfc.conf")
        let finding = try #require(host.checkup().findings(about: .blacklist).first)
        let fix = try #require(finding.fix)
        #expect(fix.apply(to: host.tree) { _ in false })
        #expect(host.checkup().findings(about: .blacklist).isEmpty)
    }

    @Test func `a comment in a blacklist does not count`() throws {
        let host = try FakeHost.healthy()
        try host.write("etc/modprobe.d/blacklist-libnfc.conf", "# blacklist pn533_usb\n")
        #expect(!host.checkup().findings(about: .blacklist).isEmpty)
    }

    @Test func `a node that everybody may open is reported with its mode`() throws {
        let host = try FakeHost.healthy()
        try host.plug("072f:2200", nodeMode: 0o666)
        let finding = try #require(host.checkup().findings(about: .nodeRights).first)
        #expect(finding.severity == .warning)
        #expect(finding.problem.contains("mode 666"))
    }

    @Test func `a node that the daemon may not open is an error for a reader of libnfc`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn53x_usb"])
        try host.plug("04e6:5591", nodeMode: 0o600)
        let finding = try #require(host.checkup().findings(about: .nodeRights).first)
        #expect(finding.severity == .error)
        #expect(finding.problem.contains("nfc-tapd has no access"))
        #expect(finding.fix == .run(["udevadm", "trigger", "--action=change", "--subsystem-match=usb", "--settle"]))
    }

    @Test func `a node that a pcscd without root's rights may not open is an error`() throws {
        let host = try FakeHost.healthy()
        try host.run("pcscd", identifier: 200, userID: 991)
        try host.plug("072f:2200", nodeMode: 0o600)
        #expect(host.checkup().findings(about: .nodeRights).map(\.severity) == [.error])
    }

    @Test func `a reader without a device file is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove(FakeHost.node)
        #expect(host.checkup().findings(about: .nodeRights).map(\.severity) == [.error])
    }

    @Test func `a serial port that is not there is an error`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn532_uart:/dev/ttyUSB0"])
        let finding = try #require(host.checkup().findings(about: .nodeRights).first)
        #expect(finding.problem.contains("/dev/ttyUSB0"))
    }

    @Test func `a serial port that the daemon may not open names the group to join`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn532_uart:/dev/ttyUSB0:115200"])
        try host.write("dev/ttyUSB0", mode: 0o600)
        let finding = try #require(host.checkup().findings(about: .nodeRights).first)
        #expect(finding.remedy.hasPrefix("usermod --append --groups "))
    }

    @Test func `a missing pcscd is to be installed`() throws {
        let host = try FakeHost.healthy()
        try host.remove("usr/sbin/pcscd")
        #expect(host.checkup().findings(about: .pcscd).map(\.remedy) == ["apt-get install pcscd libccid"])
    }

    @Test func `a pcscd that nothing starts is started`() throws {
        let host = try FakeHost.healthy()
        try host.remove("proc/200")
        let finding = try #require(host.checkup().findings(about: .pcscd).first)
        #expect(finding.fix == .run(["systemctl", "enable", "--now", "pcscd.socket"]))
    }

    @Test func `a pcscd that its socket will start is in order`() throws {
        let host = try FakeHost.healthy()
        try host.remove("proc/200")
        try host.socket("run/pcscd/pcscd.comm")
        #expect(host.checkup().findings(about: .pcscd).isEmpty)
    }

    @Test func `a pcscd without a driver for USB readers is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("usr/lib/pcsc")
        #expect(host.checkup().findings(about: .pcscd).map(\.remedy) == ["apt-get install libccid"])
    }

    @Test func `a pcscd that does not answer is restarted`() throws {
        let finding = try #require(
            try FakeHost.healthy().checkup(pcsc: .notRunning).findings(about: .pcscd).first)
        #expect(finding.remedy.hasPrefix("systemctl restart pcscd.socket"))
        #expect(finding.fix == nil)
    }

    @Test func `nobody needs pcscd whose lanes all go through libnfc`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn53x_usb"])
        try host.remove("usr/sbin/pcscd")
        #expect(host.checkup().findings(about: .pcscd).isEmpty)
    }

    @Test func `a pcscd that asks polkit gets a rule for the daemon`() throws {
        let host = try FakeHost.healthy()
        try host.write("usr/share/polkit-1/actions/org.debian.pcsc-lite.policy")
        try host.write("etc/polkit-1/rules.d/10-other.rules", "// org.debian.pcsc-lite for somebody else\n")
        let finding = try #require(host.checkup().findings(about: .polkit).first)
        #expect(finding.severity == .error)
        #expect(try #require(finding.fix).apply(to: host.tree) { _ in false })
        #expect(host.checkup().findings(about: .polkit).isEmpty)
    }

    @Test func `a refusal of the user who asks is a warning`() throws {
        let findings = try FakeHost.healthy().checkup(pcsc: .accessDenied, userID: 1_000).findings(about: .polkit)
        #expect(findings.map(\.severity) == [.warning])
    }

    @Test func `a second program on a reader is named with its unit`() throws {
        let host = try FakeHost.healthy()
        try host.run("neard", identifier: 400, opens: [FakeHost.node], unit: "neard.service")
        let finding = try #require(host.checkup().findings(about: .holder).first)
        #expect(finding.problem.contains("neard (process 400)") && finding.problem.contains("so does pcscd"))
        #expect(finding.remedy.hasPrefix("systemctl stop neard.service"))
    }

    @Test func `a program without a unit is named by its process`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn532_uart:/dev/ttyUSB0"])
        try host.write("dev/ttyUSB0", mode: 0o660)
        try host.run("minicom", identifier: 401, opens: ["/dev/ttyUSB0"])
        try host.run("nfc-tap-libnfc-worker", identifier: 402, opens: ["/dev/ttyUSB0"])
        let findings = host.checkup().findings(about: .holder)
        #expect(findings.count == 1)
        #expect(findings.first?.remedy.hasPrefix("kill 401") == true)
    }

    @Test func `an ACR122U behind libnfc should be behind pcscd`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:acr122_usb:001:005"])
        try host.write("lib/systemd/system/nfc-tapd.service.d/usb.conf")
        let finding = try #require(host.checkup().findings(about: .backend).first)
        #expect(finding.remedy.contains("reader = \"pcsc:ACR122U\""))
    }

    @Test func `an SCL3711 cannot be behind pcscd`() throws {
        let host = try FakeHost.healthy()
        try host.plug("04e6:5591")
        let finding = try #require(host.checkup(pcsc: .readers([])).findings(about: .backend).first)
        #expect(finding.problem.contains("SCM SCL3711"))
        #expect(finding.remedy.contains("libnfc:pn53x_usb"))
    }

    @Test func `a lane for a PN533 does not fit a CCID reader`() throws {
        let host = try FakeHost.healthy(lanes: ["libnfc:pn53x_usb"])
        try host.write("etc/systemd/system/nfc-tapd.service.d/usb.conf")
        let finding = try #require(host.checkup().findings(about: .backend).first)
        #expect(finding.remedy.contains("pcsc:ACR122U"))
    }

    @Test(arguments: [("libnfc:pn53x_usb", "usb.conf"), ("libnfc:pn532_uart:/dev/ttyACM0", "serial.conf")])
    func `a device that the unit may not open needs a drop-in`(lane: String, file: String) throws {
        let host = try FakeHost.healthy(lanes: [lane])
        try host.plug("04e6:5591")
        try host.write("dev/ttyACM0", mode: 0o660)
        let finding = try #require(host.checkup().findings(about: .backend).first)
        #expect(finding.remedy.contains("/etc/systemd/system/nfc-tapd.service.d/\(file)"))
        try host.write("etc/systemd/system/nfc-tapd.service.d/\(file)")
        #expect(host.checkup().findings(about: .backend).isEmpty)
    }

    @Test(
        "D2 Where libnfc works over libusb-1.0 the unit has to allow netlink, and nowhere else",
        arguments: [("libnfc.so.6", true), ("libusb-0.1.so.4", true), ("libusb-1.0.so.0", false)])
    func netlink(library: String, isMet: Bool) throws {
        // A socket of the host answers no more than two connections: one checkup for each.
        func findings(_ files: [String: String]) throws -> [Finding] {
            let host = try FakeHost.healthy(lanes: ["libnfc:pn53x_usb"])
            try host.plug("04e6:5591")
            try host.write("etc/systemd/system/nfc-tapd.service.d/usb.conf")
            for (path, text) in files { try host.write(path, text) }
            return host.checkup().findings(about: .backend)
        }
        let folder = "usr/lib/x86_64-linux-gnu/"
        #expect(try findings([folder + "libnfc.so.6": "ELF libusb-0.1.so.4"]).isEmpty)
        let modern = [folder + library: "ELF libc.so.6\0libusb-1.0.so.0\0"]
        let remedy = try findings(modern).first?.remedy ?? ""
        #expect(remedy.contains("/usr/share/nfc-tap/netlink.conf") == isMet)
        let dropIn = ["etc/systemd/system/nfc-tapd.service.d/netlink.conf": ""]
        #expect(try findings(modern.merging(dropIn) { $1 }).isEmpty)
    }

    @Test func `no reader at all is an error`() throws {
        let host = try FakeHost.healthy()
        try host.remove("sys")
        #expect(host.checkup(pcsc: .readers([])).findings(about: .backend).map(\.severity) == [.error])
    }

    @Test func `a reader that only pcscd knows is a reader`() throws {
        let host = try FakeHost.healthy()
        try host.remove("sys")
        #expect(host.checkup(pcsc: .readers(["Somebody's NFC Reader"])).findings(about: .backend).isEmpty)
    }

    @Test func `a lane for tests needs no reader`() throws {
        let host = try FakeHost.healthy(lanes: ["virtual:/tmp/reader.sock"])
        try host.remove("sys")
        #expect(host.checkup().findings(about: .backend).isEmpty)
    }

    @Test func `a CCID reader that pcscd does not list is an error`() throws {
        let findings = try FakeHost.healthy().checkup(pcsc: .readers(["ACS ACR1252 Reader"]))
            .findings(about: .backend)
        #expect(findings.first?.problem.contains("pcscd does not list it") == true)
    }
}
