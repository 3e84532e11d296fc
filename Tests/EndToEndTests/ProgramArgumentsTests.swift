// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Swift finds a program's arguments by /proc/self/maps, and has none where it does not: as an image builder's chroot is, in a mount
/// namespace of its own. Written against the kernel's promises (proc(5), ld.so(8)), not against the check.
@Suite struct ProgramArgumentsTests {
    /// Every program that Package.swift makes, the next one too.
    static func programs() throws -> [String] {
        try Checkout.text("Package.swift").matches(of: /\bprogram\(\s*"([a-z-]+)"/).map { String($0.1) }
    }

    /// Runs a script in a mount namespace of its own, where it may change /proc; `$P` is the program.
    private func run(_ program: String, _ script: String) throws -> Finished {
        // Without root a user namespace gives the right to mount.
        try Peer.run(
            "/usr/bin/unshare",
            (geteuid() == 0 ? [] : ["--user", "--map-root-user"])
                + ["--mount", "--propagation", "private", "sh", "-c", script],
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
                "P": Program.folder.appending(path: program).path,
                "NOWHERE": "/nowhere-\(UUID().uuidString)",
            ])
    }

    @Test("D12: without /proc every program says so and ends, before it has read an argument")
    func missing() throws {
        let programs = try Self.programs()
        #expect(programs.count >= 9)
        for program in programs {
            for arguments in ["--config $NOWHERE/live.toml", "--help", "pay 12.50 EUR", ""] {
                let run = try run(program, "mount -t tmpfs tmpfs /proc && exec timeout 60 $P \(arguments)")
                #expect(run.status == 69, "\(program) \(arguments): \(run.said)")
                #expect(
                    run.said.hasPrefix("\(program): /proc is not mounted") && run.said.contains("mount -t proc")
                        && run.said.split(separator: "\n").count == 1, "\(run.said)")
            }
        }
    }

    @Test(
        "D12: a /proc of another process, a file in its place and one that may not be read are told from a missing one")
    func strange() throws {
        let foreign = try run(
            "nfc-tapd",
            """
            cat /proc/self/maps >/tmp/maps.$$ && mount -t tmpfs tmpfs /proc && mkdir /proc/self &&
            mv /tmp/maps.$$ /proc/self/maps && exec timeout 60 $P --check --config $NOWHERE
            """)
        #expect(foreign.status == 69 && foreign.said.contains("not that of this process"), "\(foreign.said)")
        let empty = try run(
            "nfc-tap",
            "mount -t tmpfs tmpfs /proc && mkdir /proc/self && : >/proc/self/maps && exec timeout 60 $P status")
        #expect(empty.status == 69 && empty.said.contains("not that of this process"), "\(empty.said)")
        let folder = try run(
            "nfc-tap", "mount -t tmpfs tmpfs /proc && mkdir -p /proc/self/maps && exec timeout 60 $P status")
        #expect(folder.status == 69 && folder.said.contains("cannot be read"), "\(folder.said)")
    }

    @Test("D12: with /proc every program has its arguments, whatever its name, its environment and their length")
    func present() throws {
        for program in try Self.programs() where program != "nfc-tap-libnfc-worker" {
            let help = try run(program, "exec timeout 60 $P --help")
            #expect(help.status == 0 && help.said.contains("USAGE: \(program)"), "\(program): \(help.said)")
        }
        let worker = try run("nfc-tap-libnfc-worker", "exec timeout 60 $P --usb-library")
        #expect(worker.status == 0 && !worker.said.isEmpty)
        let long = try run("nfc-tap", "env -i $P $(head -c 100000 /dev/zero | tr '\\0' x)")
        #expect(long.status == 64, "\(long.said.prefix(200))")
        // A /proc that shows processes alone, as the units have it.
        let units = try run(
            "nfc-tap", "mount -t proc -o subset=pid,hidepid=invisible proc /proc && exec timeout 60 $P --version")
        if !units.said.contains("mount:") { #expect(units.status == 0, "\(units.said)") }
    }

    /// setenv(3) may move `environ` away from the stack, below which Swift looks.
    @Test("D12: a library before the program that moves its environment ends it, with the reason")
    func moved() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "moved-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = """
            #include <stdlib.h>
            __attribute__((constructor)) static void add(void) { setenv("NOT_THERE_BEFORE", "1", 1); }
            """
        try Data(source.utf8).write(to: folder.appending(path: "add.c"))
        let run = try run(
            "nfc-tapd",
            """
            clang -shared -fPIC -o \(folder.path)/add.so \(folder.path)/add.c &&
            exec timeout 60 env LD_PRELOAD=\(folder.path)/add.so $P --check --config $NOWHERE
            """)
        #expect(run.status == 69 && run.said.contains("LD_PRELOAD"), "\(run.said)")
    }
}
