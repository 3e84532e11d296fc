// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import ReaderCore
import ReaderNFC
import Rigs
import Synchronization
import TestSupport
import Testing

@Suite("Starting and sharing", .timeLimit(.minutes(5)))
struct WorkerProcessTests {
    private func open(_ connection: String, program: String) throws -> LibNFCReader {
        try LibNFCReader(
            connection: connection, workerProgram: program, graceMilliseconds: 100, until: Bench.soon(2_000))
    }

    /// A worker that runs `body` in a shell; its socket is descriptor 3.
    ///
    /// A shell writes the file: a program that this process has open for writing, even for a moment in the child of a
    /// spawn elsewhere, cannot be started.
    private func script(_ body: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("worker-\(UUID()).sh").path
        let writer = try Peer.run(
            "/bin/sh", ["-c", "printf '%s' \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh", path, "#!/bin/sh\n\(body)\n"])
        try #require(writer.status == 0)
        return path
    }

    /// The second source: the dynamic linker.
    @Test func `D2 The worker says which libusb it meets, as the linker has it`() throws {
        let worker = try #require(WorkerProgram.find())
        let linked = try Peer.run("/usr/bin/ldd", [worker]).output
        try #require(linked.contains("libnfc.so"))
        let expected = linked.contains("libusb-1.0.so") ? "libusb-1.0" : "libusb-0.1"
        let said = try Peer.run(worker, ["--usb-library"]).output.trimmingCharacters(in: .newlines)
        #expect(said == expected)
        print("this machine's worker meets \(said)")
    }

    @Test(arguments: ["/nowhere/nfc-tap-libnfc-worker", "/etc/passwd", "/"])
    func `A program that cannot be started is named as such`(program: String) {
        #expect(throws: ReaderError.serviceUnavailable(.workerMissing)) {
            try open("pn532_uart:/dev/null", program: program)
        }
    }

    @Test func `A program that ends at once is a detached reader`() {
        #expect(throws: ReaderError.detached) { try open("pn532_uart:/dev/null", program: "/bin/true") }
    }

    @Test(arguments: [
        "printf 'no frame at all' >&3; exec sleep 3600",
        // A frame of the right form, but with an id that nobody asked for.
        "printf '\\000\\005\\206\\377\\377\\377\\377' >&3; exec sleep 3600",
        // The right id, but an answer that says nothing.
        "printf '\\000\\005\\205\\000\\000\\000\\001' >&3; exec sleep 3600",
        // An answer that belongs to another request.
        "printf '\\000\\005\\206\\000\\000\\000\\001' >&3; exec sleep 3600",
        "exec 3>&-; exec sleep 3600",
        "exec sleep 3600",
    ])
    func `A worker that talks nonsense or nothing is ended`(body: String) throws {
        let program = try script(body)
        defer { try? FileManager.default.removeItem(atPath: program) }
        #expect(throws: ReaderError.detached) { try open("pn532_uart:/dev/null", program: program) }
    }

    @Test(arguments: ["pn532_uart:/dev/nothing-here", "pn532_uart:/dev/null", "no such driver", "pn532_uart:"])
    func `A device that is not there is a detached reader`(connection: String) throws {
        let program = try Bench.workerProgram()
        #expect(throws: ReaderError.detached) { try open(connection, program: program) }
    }

    @Test func `A line that another worker holds is in use, and free again when that one closes`() throws {
        let bench = try Bench()
        #expect(throws: ReaderError.inUse) { try Bench.open(bench.emulator) }
        bench.reader.close()
        let next = try Bench.open(bench.emulator)
        next.close()
    }

    @Test func `A worker outlives the thread that started it`() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        emulator.insert(InstructionCard.typeA)
        let opened = OpenedReader()
        let thread = Thread { opened.reader.withLock { $0 = try? Bench.open(emulator) } }
        thread.start()
        while !thread.isFinished { sched_yield() }
        try opened.reader.withLock { reader in
            let presence = try reader?.activate(until: Bench.soon(), cancellation: TapCancellation())
            #expect(presence == .card(InstructionCard.typeA.activation))
            reader?.close()
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root may look into a process that keeps its memory private"))
    func `A worker inherits nothing and leaves no core`() throws {
        let bench = try Bench()
        let worker = try #require(bench.reader.workerProcessIdentifier)
        let folder = "/proc/\(worker)/fd"
        let targets = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
        #expect(targets.filter { $0.hasPrefix("socket:") }.count <= 2, "its own, and stderr where that is a socket")
        #expect(!targets.contains { $0.contains("ptmx") }, "the emulator's end of the line stays with the emulator")
        let limits = try String(contentsOfFile: "/proc/\(worker)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").filter { $0 == "0" }.count == 2)
        let environment = try String(contentsOfFile: "/proc/\(worker)/environ", encoding: .utf8)
        #expect(environment.split(separator: "\0").contains("LIBNFC_LOG_LEVEL=0"))
        #expect(!environment.contains("HOME="))
    }
}

/// A reader on its way from one thread to another.
private final class OpenedReader: Sendable {
    let reader = Mutex<LibNFCReader?>(nil)
}
