// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The lines of the units that nothing else would miss. What systemd makes of them, Tests/Checks/check-units.sh and
/// Tests/Checks/check-package.sh see.
@Suite struct UnitFileTests {
    /// Settings of a unit by section, in order.
    private func settings(_ file: String) throws -> [String: [(key: String, value: String)]] {
        var section = ""
        var found: [String: [(key: String, value: String)]] = [:]
        for line in try Checkout.text(file).split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                section = String(line.dropFirst().dropLast())
            } else if let equals = line.firstIndex(of: "=") {
                found[section, default: []].append(
                    (String(line[..<equals]), String(line[line.index(after: equals)...])))
            }
        }
        return found
    }

    static let wanted: [(section: String, key: String, value: String)] = [
        ("Unit", "StartLimitIntervalSec", "0"), ("Service", "Restart", "on-failure"), ("Service", "RestartSec", "1s"),
        ("Service", "OOMScoreAdjust", "-500"), ("Service", "NoExecPaths", "/"), ("Service", "LimitCORE", "0"),
        ("Service", "MemorySwapMax", "0"), ("Service", "TimeoutStartSec", "5min"),
    ]

    @Test("D1 The daemon's unit has each line that keeps it alive, and shuts others out", arguments: wanted)
    func line(section: String, key: String, value: String) throws {
        let found = try #require(try settings("systemd/nfc-tapd.service")[section]).filter { $0.key == key }
        #expect(found.map(\.value) == [value])
    }

    static let refused = [
        "@keyring", "@debug", "@privileged", "@resources", "io_uring_enter", "io_uring_register", "io_uring_setup",
        "process_vm_readv", "process_vm_writev", "userfaultfd", "pidfd_getfd",
    ]

    @Test(
        "D1 The daemon's unit refuses each system call that leads into other processes or around the filter",
        arguments: refused)
    func call(name: String) throws {
        let filters = try #require(try settings("systemd/nfc-tapd.service")["Service"])
            .filter { $0.key == "SystemCallFilter" }.map(\.value)
        // An allowed set comes first: what follows with a tilde is taken from it.
        #expect(filters.first == "@system-service")
        #expect(filters.dropFirst().allSatisfy { $0.hasPrefix("~") })
        #expect(filters.dropFirst().contains { $0.dropFirst().split(separator: " ").contains(name[...]) })
    }

    @Test("D1 What the daemon has to start lies in a path from which it may")
    func executable() throws {
        let service = try #require(try settings("systemd/nfc-tapd.service")["Service"])
        let paths = service.filter { $0.key == "ExecPaths" }.flatMap { $0.value.split(separator: " ") }
            .map { $0.hasPrefix("-") ? $0.dropFirst() : $0 }
        for key in ["ExecStart", "ExecReload"] {
            let program = try #require(service.first { $0.key == key }?.value.split(separator: " ").first)
            #expect(paths.contains(program), "\(program)")
        }
        // Where packaging/stage.sh puts the worker, and where scripts/install.sh does.
        #expect(paths.contains("/usr/libexec/nfc-tap") && paths.contains("/usr/bin/nfc-tap-libnfc-worker"))
        #expect(!paths.contains("/") && !paths.contains("/var") && !paths.contains("/usr"))
    }

    @Test(
        "D2 The USB drop-in allows netlink, which libusb-1.0 needs to find a reader, and nothing else beside Unix sockets"
    )
    func netlink() throws {
        let usb = try #require(try settings("systemd/nfc-tapd.service.d/netlink.conf")["Service"])
        #expect(usb.map(\.key) == ["RestrictAddressFamilies"] && usb.first?.value == "AF_UNIX AF_NETLINK")
        let others = try settings("systemd/nfc-tapd.service.d/usb.conf")["Service"] ?? []
        #expect(!others.contains { $0.key == "RestrictAddressFamilies" })
    }

    /// `+` runs a line as root, whatever user the unit has (systemd.service(5)); its folders under %t, %S, %C and %L belong to that user.
    @Test("A7: no unit has root write into a folder that belongs to its user, or to any other")
    func roots() throws {
        var seen = 0
        for file in try FileManager.default.contentsOfDirectory(atPath: Checkout.file("systemd").path)
        where file.hasSuffix(".service") || file.hasSuffix(".socket") {
            let settings = try settings("systemd/\(file)")
            let section = (settings["Service"] ?? []) + (settings["Socket"] ?? [])
            let names = section.filter {
                ["RuntimeDirectory", "StateDirectory", "CacheDirectory", "LogsDirectory"].contains($0.key)
            }.flatMap { $0.value.split(separator: " ") }
            let others = ["/run/nfc-tap", "/var/lib/nfc-tap", "/run/nfc-tap-gateway", "%t/nfc-tap", "%S/nfc-tap"]
            for line in section
            where line.key.hasPrefix("Exec") && line.value.drop(while: { "-:@".contains($0) }).hasPrefix("+") {
                seen += 1
                for target in line.value.matches(of: /(?:>|chgrp \S+|chown \S+|touch|cp .*|install -m .*) ?(\S+)/) {
                    let path = String(target.1)
                    for name in names { #expect(!path.contains("/\(name)/"), "\(file): \(path)") }
                    for other in others { #expect(!path.hasPrefix(other + "/"), "\(file): \(path)") }
                }
            }
        }
        #expect(seen == 1, "the kiosk's line")
    }

    @Test("A7: the display's code lies in a folder that is made for root before it is written")
    func kiosk() throws {
        let service = try #require(try settings("systemd/nfc-tap-kiosk.service")["Service"])
        let line = try #require(service.first { $0.key == "ExecStartPre" }?.value)
        let folder = try #require(line.firstMatch(of: /install -d -o root -g nfc-tap-kiosk -m 0750 (%t\/[a-z-]+);/)).1
        #expect(line.contains(">\(folder)/url") && !service.contains { $0.key == "RuntimeDirectory" })
        #expect(service.first { $0.key == "ExecStart" }?.value.contains("cat \(folder)/url") == true)
    }
}
