// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Glibc
import ReaderCore
import Rigs
import Testing

@testable import ReaderNFC

@Suite("The worker's death is a detached reader", .timeLimit(.minutes(5)))
struct WorkerDeathTests {
    /// How a C library ends the process it is in.
    static let ends = [SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGKILL]

    @Test("D11: a worker that ends by a signal while a card is read takes nobody with it", arguments: ends)
    func endsInACommand(signal: Int32) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        let worker = try #require(bench.reader.workerProcessIdentifier)
        bench.emulator.whenReceived(0x40) { kill(worker, signal) }
        #expect(throws: ReaderError.detached) { try bench.echoes() }
        #expect(bench.reader.lastWorkerEnd == .signalled(signal))
        try expectRecovery(of: bench)
    }

    @Test("D11: a worker that ends by a signal while a card is selected takes nobody with it", arguments: ends)
    func endsInASearch(signal: Int32) throws {
        let bench = try Bench(InstructionCard.typeA)
        let worker = try #require(bench.reader.workerProcessIdentifier)
        bench.emulator.whenReceived(0x4A) { kill(worker, signal) }
        #expect(throws: ReaderError.detached) { try bench.activate() }
        #expect(bench.reader.lastWorkerEnd == .signalled(signal))
        try expectRecovery(of: bench)
    }

    @Test func `A command longer than the line carries never reaches libnfc`() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        emulator.insert(InstructionCard.typeA)
        let worker = try WorkerConnection(program: Bench.workerProgram(), graceMilliseconds: 2_000)
        let deadline = Bench.soon()
        _ = try worker.ask(.open(connection: emulator.connectionString), until: deadline)
        _ = try worker.ask(.poll(milliseconds: 5_000, broadcast: []), until: deadline)
        let longest: [UInt8] = [0xE0, 0x0A, 0, 0] + [UInt8](repeating: 0, count: WorkerRequest.longestCommand - 4)
        #expect(
            try worker.ask(.transceive(command: longest, milliseconds: 1_000), until: deadline)
                == .response([0, 0, 1, 6, 0x90, 0]))
        #expect(
            try worker.ask(.transceive(command: longest + [0], milliseconds: 1_000), until: deadline)
                == .failed(.faulty, code: -2))
        #expect(
            try worker.ask(.transceive(command: longest, milliseconds: 1_000), until: deadline)
                == .response([0, 0, 1, 6, 0x90, 0]))
        worker.close()
        #expect(worker.end == .exited(0))
    }

    @Test func `A worker that hangs is killed at the deadline`() throws {
        let bench = try Bench(grace: 100)
        let worker = try #require(bench.reader.workerProcessIdentifier)
        bench.emulator.whenReceived(0x4A) { kill(worker, SIGSTOP) }
        #expect(throws: ReaderError.detached) { try bench.activate(within: 2_000) }
        #expect(bench.reader.lastWorkerEnd == .signalled(SIGKILL))
        #expect(kill(worker, 0) == -1, "the process is reaped")
        bench.emulator.insert(InstructionCard.typeA)
        try expectRecovery(of: bench)
    }

    @Test func `A worker that hangs does not outlive a cancelled wait`() throws {
        let bench = try Bench(grace: 100)
        let worker = try #require(bench.reader.workerProcessIdentifier)
        let cancellation = TapCancellation()
        bench.emulator.whenReceived(0x4A) {
            kill(worker, SIGSTOP)
            cancellation.cancel()
        }
        #expect(throws: ReaderError.detached) {
            try bench.reader.activate(until: Bench.soon(60_000), cancellation: cancellation)
        }
        #expect(bench.reader.lastWorkerEnd == .signalled(SIGKILL))
    }

    @Test func `A worker killed from outside shows at once`() throws {
        let bench = try Bench()
        let worker = try #require(bench.reader.workerProcessIdentifier)
        bench.emulator.whenReceived(0x4A) { kill(worker, SIGKILL) }
        #expect(throws: ReaderError.detached) { try bench.activate(within: 60_000) }
        #expect(throws: ReaderError.detached) { try bench.activate() }
        bench.emulator.insert(InstructionCard.typeA)
        try expectRecovery(of: bench)
    }

    @Test func `A reader unplugged while it waits is detached, and works again once it is back`() throws {
        let link = "/tmp/nfc-tap-pn532-\(getpid())"
        defer { unsafe unlink(link) }
        let bench = try Bench(link: link)
        bench.emulator.whenReceived(0x4A) { [emulator = bench.emulator] in emulator.pullPlug() }
        #expect(throws: ReaderError.detached) { try bench.activate() }
        #expect(throws: ReaderError.detached) { try bench.reader.reopen(until: Bench.soon()) }
        let replugged = try PN532Emulator.start(link: link)
        defer { replugged.unplug() }
        replugged.insert(InstructionCard.typeA)
        try expectRecovery(of: bench)
        bench.reader.close()
    }

    @Test func `A reader unplugged in mid-command tears the card and is detached`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.whenReceived(0x40) { [emulator = bench.emulator] in emulator.pullPlug() }
        #expect(throws: ReaderError.detached) {
            try bench.transmit(.instruction(0x04, 5_000))
        }
    }

    @Test func `Losing one worker after the other makes the owner wait longer, up to half a minute`() throws {
        let bench = try Bench()
        var delays: [UInt64] = []
        while delays.count < 5 {
            if let worker = bench.reader.workerProcessIdentifier {
                kill(worker, SIGKILL)
                #expect(throws: ReaderError.detached) { try bench.activate() }
            }
            delays.append(bench.reader.reopenDelayMilliseconds)
            // On a machine without a moment to spare the emulated chip answers after libnfc's own time: one more loss.
            do { try bench.reader.reopen(until: Bench.soon()) } catch { #expect(error == .detached) }
        }
        #expect(delays == [0, 250, 500, 1_000, 2_000])
    }

    private func expectRecovery(of bench: Bench) throws {
        try bench.reader.reopen(until: Bench.soon())
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
        #expect(bench.reader.reopenDelayMilliseconds == 0)
    }
}
