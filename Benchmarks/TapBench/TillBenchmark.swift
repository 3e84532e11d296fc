// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import TapClient
import Wire

/// What a sale costs by ZVT through nfc-tap-ecr, beside the same sale on the daemon's socket: one of each in turn.
enum TillBenchmark {
    static func run(taps: Int) async throws {
        Table.section("One sale by ZVT over TCP through nfc-tap-ecr (own processes; \(taps) sales each)")
        let programs = try Programs()
        defer { programs.stop() }
        let (address, bridge) = try begin(programs)
        let client = try await TapClient.connect(to: programs.posSocket)
        let till = try Till(address)
        try till.register()
        var plain: [Double] = []
        var bridged: [Double] = []
        for number in -10..<taps {
            let first = try await sale(client, programs.readerSocket)
            try DaemonBenchmark.present(programs.readerSocket)
            let start = Stopwatch.wallTime()
            try till.sell()
            let second = Double(Stopwatch.wallTime() - start)
            guard number >= 0 else { continue }
            plain.append(first)
            bridged.append(second)
        }
        plain.sort()
        bridged.sort()
        Table.yardstick(
            "the same sale on the socket, from request to confirmation", p50: plain.percentile(50),
            p99: plain.percentile(99))
        Table.row(
            "command to completion", p50: bridged.percentile(50), p99: bridged.percentile(99),
            beside: plain.percentile(50))
        Table.row("median by ZVT", ratio: bridged.percentile(50) / plain.percentile(50), target: 1.25)
        Table.row(
            "nfc-tap-ecr, resident memory after \(taps) sales",
            bytes: try FootprintBenchmark.memoryOf(bridge, "VmRSS:"), target: 20_000_000)
        Table.row(
            "  of it not a copy of a file: heap, stacks, relocated data",
            bytes: try FootprintBenchmark.memoryOf(bridge, "RssAnon:"))
    }

    /// Till and customer are done when the daemon has heard of it.
    private static func sale(_ client: TapClient, _ reader: String) async throws -> Double {
        try DaemonBenchmark.present(reader)
        guard let euro = Currency("EUR") else { throw BenchmarkError.failed("no currency EUR") }
        var request = TransactionRequest(type: .purchase, amount: Money(value: 1_200, currency: euro))
        request.confirmWithin = 120
        let start = Stopwatch.wallTime()
        let tap = try await client.start(request, idempotencyKey: "bench-\(UInt64.random(in: .min ... .max))")
        let transaction = try await tap.settled()
        guard transaction.state == .approved else { throw BenchmarkError.wrongResult("ended \(transaction.state)") }
        _ = try await client.confirm(transaction.id)
        return Double(Stopwatch.wallTime() - start)
    }

    private static func begin(_ programs: Programs) throws -> (TCPAddress, pid_t) {
        for _ in 0..<100 {
            guard let address = TCPAddress("127.0.0.1:\(Int.random(in: 20_000...60_000))"),
                (try? Descriptor.listening(at: address)) != nil
            else { continue }
            let table = """
                socket = "\(programs.posSocket)"
                directory = "\(programs.path)"
                [[till]]
                name = "bench"
                protocol = "zvt"
                listen = "\(address)"
                lane = "\(programs.laneName(0))"
                test = true

                """
            let file = programs.folder.appending(path: "ecr.toml")
            try Data(table.utf8).write(to: file)
            return (address, try programs.start("nfc-tap-ecr", ["--config", file.path]))
        }
        throw BenchmarkError.failed("no port free")
    }

    /// A till that prints by itself.
    private final class Till {
        private let line: ByteLine

        init(_ address: TCPAddress) throws {
            for _ in 0..<400 {
                if let line = try? Descriptor.connected(to: address) {
                    self.line = ByteLine(socket: line)
                    return
                }
                usleep(10_000)
            }
            throw BenchmarkError.failed("nfc-tap-ecr is not ready in time")
        }

        func register() throws {
            try write([0x06, 0x00, 0x06, 0, 0, 0, 0, 0x09, 0x78])
            try finish(within: 2)
        }

        func sell() throws {
            try write([0x06, 0x01, 0x0A, 0x04, 0, 0, 0, 0, 0x12, 0x00, 0x49, 0x09, 0x78])
            try finish(within: 3)
        }

        /// Answers whatever comes until the completion, which has to be the packet of that number.
        private func finish(within packets: Int) throws {
            var buffer: [UInt8] = []
            for _ in 0..<packets {
                while buffer.count < 3 || buffer.count < 3 + Int(buffer[2]) {
                    guard case .bytes(let bytes) = line.receive() else {
                        throw BenchmarkError.failed("the line was lost")
                    }
                    buffer += bytes
                }
                let packet = Array(buffer.prefix(3 + Int(buffer[2])))
                buffer.removeFirst(packet.count)
                guard packet[0] != 0x80 else { continue }
                try write([0x80, 0x00, 0x00])
                if packet[0] == 0x06 { return try completed(packet) }
            }
            throw BenchmarkError.wrongResult("no completion")
        }

        private func write(_ bytes: [UInt8]) throws {
            guard line.send(bytes) else { throw BenchmarkError.failed("the line was lost") }
        }

        private func completed(_ packet: [UInt8]) throws {
            guard packet[1] == 0x0F else { throw BenchmarkError.wrongResult("not paid: \(packet)") }
        }
    }
}
