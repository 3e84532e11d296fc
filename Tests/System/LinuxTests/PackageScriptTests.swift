// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Scripts of the build and of the payment service's package, run as make and dpkg run them.
@Suite(.serialized) struct PackageScriptTests {
    private func run(
        _ shell: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> Finished {
        try Peer.run(shell, arguments, environment: ["PATH": "/usr/bin:/bin"].merging(environment) { _, own in own })
    }

    @Test("D10: a build without a toolchain says where one is to be had")
    func toolchain() throws {
        let answer = try run(
            "/bin/bash", [Checkout.file("scripts/build.sh").path], ["SWIFT": "no-such-toolchain"])
        #expect(answer.status == 69)
        #expect(answer.said.contains("https://www.swift.org/install/linux/"))
        #expect(!answer.said.contains("build.log"))
        #expect(try Checkout.text("README.md").contains("(https://www.swift.org/install/linux/)"))
    }

    @Test("D13: a purge takes the replicas that were enabled, and leaves the PIN of the token")
    func purge() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "switch-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: root) }
        let system = "etc/systemd/system"
        let gone = [
            "\(system)/multi-user.target.wants/nfc-tap-switch@1.service",
            "\(system)/timers.target.wants/nfc-tap-switch-day.timer", "run/nfc-tap-switch/1.sock",
            // With it a new installation would end a day at once.
            "var/lib/systemd/timers/stamp-nfc-tap-switch-day.timer",
        ]
        let kept = ["etc/nfc-tap-switch/token-pin", "\(system)/multi-user.target.wants/haproxy.service"]
        for path in gone + kept {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        let script = Checkout.file("packaging/switch/debian/nfc-tap-switch.postrm").path
        for _ in 1...2 {
            let answer = try run("/bin/sh", [script, "purge"], ["DPKG_ROOT": root.path])
            #expect(answer.status == 0 && answer.said.isEmpty, "\(answer.said)")
        }
        for path in gone {
            #expect(!FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(path)")
        }
        for path in kept { #expect(FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(path)") }
    }

    /// What a person has started debhelper stops neither, and it knows no instances: dh_installsystemd(1), deb-systemd-invoke(1p).
    @Test(
        "D13: what runs stops with the removal of its package, and not with an upgrade",
        arguments: [
            (
                "packaging/debian/nfc-tap.prerm",
                [
                    "nfc-tap-ecr.service", "nfc-tap-gateway.service", "nfc-tap-gateway.socket", "nfc-tap-hub.service",
                    "nfc-tap-psp-sandbox.service", "nfc-tap-remote.service",
                ]
            ),
            (
                "packaging/switch/debian/nfc-tap-switch.prerm",
                ["nfc-tap-switch-day.service", "nfc-tap-switch-day.timer", "nfc-tap-switch@*.service"]
            ),
        ])
    func removal(script: String, units: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "removal-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: Checkout.file(script), to: folder.appending(path: "prerm"))
        let told = folder.appending(path: "told")
        try Data("#!/bin/sh\necho \"$@\" >>'\(told.path)'\n".utf8)
            .write(to: folder.appending(path: "deb-systemd-invoke"))
        // A pattern that the shell takes for a file's name stops that one alone.
        try Data().write(to: folder.appending(path: "nfc-tap-switch@1.service"))
        // Of this machine neither systemd nor a journal is seen.
        let stage = """
            mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && mkdir -p /run/systemd/system &&
            chmod +x deb-systemd-invoke && PATH=$PWD:$PATH exec sh prerm
            """
        for (action, stopped) in [("upgrade", []), ("remove", units)] {
            let namespace =
                (geteuid() == 0 ? [] : ["--user", "--map-root-user"]) + ["--mount", "--propagation", "private"]
            let answer = try run(
                "/usr/bin/unshare", namespace + ["sh", "-c", "cd '\(folder.path)' && \(stage) \(action)"], [:])
            #expect(answer.status == 0 && answer.said.isEmpty, "\(answer.said)")
            let words = ((try? String(contentsOf: told, encoding: .utf8)) ?? "").split { $0 == " " || $0 == "\n" }
            #expect(words.first.map { $0 == "stop" } ?? stopped.isEmpty)
            #expect(words.dropFirst().map(String.init).sorted() == stopped, "\(action)")
        }
    }

    /// dh_installsystemd(1): the scripts that it adds to a package let systemd read its units again.
    @Test("D13: an upgrade of the payment service lets systemd read its units again")
    func upgrade() throws {
        let rules = try Checkout.text("packaging/switch/debian/rules").split(separator: "\n")
        let calls = rules.filter { $0.hasPrefix("\tdh_installsystemd") }
        #expect(!calls.isEmpty && calls.allSatisfy { !$0.contains("--no-start") }, "\(calls)")
    }
}
