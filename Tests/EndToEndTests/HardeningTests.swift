// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Rigs
import TestSupport
import Testing

@testable import CardSim

/// What a program that reads cards leaves behind where somebody makes it dump its memory, and what is in that memory in its
/// last moment.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HardeningTests {
    private static let reader = "ACS ACR122U PICC Interface 00 00"

    /// Starts a program with no limit on core files, aborts it once it has hardened itself or two seconds have gone, and
    /// prints whether the kernel dumped it, by which signal it ended, and how many files it left.
    private static let dying = """
        import os, resource, signal, socket, sys, time
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except ValueError:
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        os.chdir(sys.argv[1])
        ours, its = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            # Whoever started this may have blocked it.
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            signal.signal(signal.SIGABRT, signal.SIG_DFL)
            os.dup2(its.fileno(), 3)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
            os.execv(sys.argv[2], sys.argv[2:])
        its.close()
        for _ in range(100):
            time.sleep(0.02)
            core = [l for l in open(f"/proc/{pid}/limits") if l.startswith("Max core file size")][0].split()
            if core[4] == "0":
                break
        os.kill(pid, signal.SIGABRT)
        status = os.waitpid(pid, 0)[1]
        print("dumped" if os.WCOREDUMP(status) else "kept", os.WTERMSIG(status), len(os.listdir(".")))
        """

    private func die(_ program: [String], _ environment: [String: String] = [:]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "core-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.dying, folder.path] + program
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    @Test("B1 A program that reads cards leaves no core file where it is made to die, and another program does")
    func core() throws {
        let rig = FakePCSCD(path: NSTemporaryDirectory() + "/core-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        defer { rig.die() }
        try rig.plug(Self.reader)
        let library = ["PCSCLITE_CSOCK_NAME": rig.path]
        let folder = FileManager.default.temporaryDirectory.path
        let tap = Program.tap.url.path
        #expect(
            try die(["/bin/sleep", "60"]).hasPrefix("dumped 6"), "a core file is made here, or this proves nothing")
        #expect(try die([tap, "read", "--reader", "pcsc:\(Self.reader)"], library) == "kept 6 0")
        #expect(
            try die([tap, "record", folder + "/none.tap", "--reader", "pcsc:\(Self.reader)"], library) == "kept 6 0")
        let worker = Program.tap.url.deletingLastPathComponent().appending(path: "nfc-tap-libnfc-worker")
        #expect(try die([worker.path]) == "kept 6 0")
    }

    /// A card whose number is in no program.
    private func card() -> (card: PaymentCard, secrets: String) {
        var digits = "476173".compactMap(\.wholeNumberValue)
        while digits.count < 15 { digits.append(Int.random(in: 0...9)) }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let value = digit.offset.isMultiple(of: 2) ? digit.element * 2 : digit.element
            return sum + value / 10 + value % 10
        }
        let personalisation = CardPersonalisation(pan: (digits + [(10 - sum % 10) % 10]).map(String.init).joined())
        var track = Hex.string(personalisation.track2)
        while track.hasSuffix("F") { track.removeLast() }
        let number = personalisation.pan.map(String.init).joined()
        return (
            CardCatalogue.card(VisaApplication.personalised(personalisation)),
            "\(number)\n\(track)\n\(track.dropFirst(12))\n"
        )
    }

    @Test(
        "B1 In its last moment a program that has read a card has nothing of its number or track 2 in memory",
        arguments: ["read", "record"])
    func lastMoment(command: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exit-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stopper = folder.appending(path: "libatexit.so").path
        try run("clang", ["-shared", "-fPIC", "-O1", "-o", stopper, Checkout.file("Tests/Rigs/Clock/atexit.c").path])
        let rig = FakePCSCD(path: NSTemporaryDirectory() + "/exit-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        defer { rig.die() }
        try rig.plug(Self.reader)
        let (card, secrets) = card()
        try rig.insert(card, into: Self.reader)
        let exit = folder.appending(path: "exit").path
        let file = command == "record" ? [folder.appending(path: "card.tap").path] : []
        let process = try Program.tap.launch(
            [command] + file + ["--reader", "pcsc:\(Self.reader)"], in: folder,
            environment: ["PCSCLITE_CSOCK_NAME": rig.path, "LD_PRELOAD": stopper, "AT_EXIT": exit])
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try waitFor("the program's end") { FileManager.default.fileExists(atPath: exit) }
        let said = try String(contentsOf: folder.appending(path: "nfc-tap.out"), encoding: .utf8)
        if command == "read" { #expect(said.contains("card number"), "\(said)") }
        #expect(try scan("\(process.processIdentifier)", secrets) == nil)
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func waitFor(_ what: String, _ condition: () -> Bool) throws {
        let end = ContinuousClock.now.advanced(by: hangLimit)
        while ContinuousClock.now < end {
            if condition() { return }
            usleep(20_000)
        }
        throw Trouble.missing(what)
    }

    /// - Returns: what was found; `nil` for nothing.
    private func scan(_ target: String, _ secrets: String) throws -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Checkout.file("scripts/scan-secrets.py").path, target]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(secrets.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : text
    }
}
