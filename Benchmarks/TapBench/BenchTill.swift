// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// Tills that sell for 12.00 when they are told to, one sale after the other, and print by themselves. Each is a function of the
/// sale's number that returns once the till has been paid.
enum BenchTill {
    typealias Sell = (Int) throws -> Void

    static func zvt(_ address: TCPAddress) throws -> Sell {
        let line = try connected(to: address)
        var buffer: [UInt8] = []
        /// Answers whatever comes until the completion.
        func finish() throws {
            for _ in 0..<8 {
                while buffer.count < 3 || buffer.count < 3 + Int(buffer[2]) { buffer += try read(line) }
                let packet = Array(buffer.prefix(3 + Int(buffer[2])))
                buffer.removeFirst(packet.count)
                guard packet[0] != 0x80 else { continue }
                try write([0x80, 0x00, 0x00], line)
                guard packet[0] == 0x06 else { continue }
                guard packet[1] == 0x0F else { throw BenchmarkError.wrongResult("not paid: \(packet)") }
                return
            }
            throw BenchmarkError.wrongResult("no completion")
        }
        try write([0x06, 0x00, 0x06, 0, 0, 0, 0, 0x09, 0x78], line)
        try finish()
        return { _ in
            try write([0x06, 0x01, 0x0A, 0x04, 0, 0, 0, 0, 0x12, 0x00, 0x49, 0x09, 0x78], line)
            try finish()
        }
    }

    /// A connection for each sale, as known clients make it.
    static func caisse(_ address: TCPAddress) -> Sell {
        { _ in
            let line = try connected(to: address)
            try write(Array("CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041200".utf8), line)
            let answer = try read(line)
            guard String(decoding: answer, as: UTF8.self).contains("AE00210") else {
                throw BenchmarkError.wrongResult("not paid: \(answer)")
            }
        }
    }

    /// Asks every few milliseconds what became of its payment; a browser does so every second.
    static func proxy(_ address: TCPAddress) -> Sell {
        func ask(_ path: String, _ parameters: String) throws -> String {
            let line = try connected(to: address)
            let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"call\",\"params\":{\(parameters)}}"
            let head = """
                POST /hw_proxy/\(path) HTTP/1.1\r
                Host: \(address)\r
                Origin: https://shop.example\r
                Content-Type: application/json\r
                Content-Length: \(body.utf8.count)\r
                Connection: close\r
                \r

                """
            try write(Array((head + body).utf8), line)
            var answer: [UInt8] = []
            while case .bytes(let bytes) = line.receive() { answer += bytes }
            return String(decoding: answer, as: UTF8.self)
        }
        // A ledger that has an order of before would say that it is paid.
        let order = UInt64.random(in: .min ... .max)
        return { number in
            let info =
                "{\\\"amount\\\":12,\\\"currency_iso\\\":\\\"EUR\\\",\\\"payment_mode\\\":\\\"card\\\","
                + "\\\"payment_id\\\":\\\"\(number)\\\",\\\"order_id\\\":\\\"\(order)\\\"}"
            let begun = try ask("payment_terminal_transaction_start", "\"payment_info\":\"\(info)\"")
            guard let id = begun.split(separator: "\"transaction_id\":").last?.prefix(while: \.isNumber) else {
                throw BenchmarkError.wrongResult("not begun: \(begun)")
            }
            for _ in 0..<2_000 {
                let said = try ask("status_json", "")
                guard let own = said.split(separator: "\"transaction_id\":\(id),").last else { continue }
                if own.hasPrefix("\"success\":true") { return }
                usleep(5_000)
            }
            throw BenchmarkError.wrongResult("not paid")
        }
    }

    static func ePlus(_ line: SerialEnd) -> Sell {
        { _ in
            let body = Array("0100001200010978          A010B010".utf8)
            try line.send([0x05], until: 0x06)
            try line.send([0x02] + body + [0x03, body.reduce(0x03, ^)], until: 0x06)
            try line.send([0x04], until: 0x05)
            let answer = try line.send([0x06], until: 0x03)
            guard answer.count > 3, answer[3] == 0x30 else { throw BenchmarkError.wrongResult("not paid: \(answer)") }
            _ = try line.read()
            try line.send([0x06], until: 0x04)
        }
    }

    private static func connected(to address: TCPAddress) throws -> ByteLine {
        for _ in 0..<400 {
            if let line = try? Descriptor.connected(to: address) { return ByteLine(socket: line) }
            usleep(10_000)
        }
        throw BenchmarkError.failed("nfc-tap-ecr is not ready in time")
    }

    private static func write(_ bytes: [UInt8], _ line: ByteLine) throws {
        guard line.send(bytes) else { throw BenchmarkError.failed("the line was lost") }
    }

    private static func read(_ line: ByteLine) throws -> [UInt8] {
        guard case .bytes(let bytes) = line.receive() else { throw BenchmarkError.failed("the line was lost") }
        return bytes
    }
}

/// The till's end of a pseudo-terminal; the other one is a serial line to whoever opens it.
final class SerialEnd {
    let device: String
    private let end: Int32
    /// So that the line stays when nobody else has it open.
    private let other: Int32

    init() throws {
        var (lock, number): (Int32, Int32) = (0, 0)
        end = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which Glibc's module leaves out.
        guard end >= 0, unsafe ioctl(end, 0x4004_5431, &lock) == 0, unsafe ioctl(end, 0x8004_5430, &number) == 0 else {
            throw BenchmarkError.failed("no pseudo-terminal")
        }
        device = "/dev/pts/\(number)"
        other = unsafe open(device, O_RDWR | O_NOCTTY)
    }

    deinit {
        close(end)
        close(other)
    }

    func read() throws -> UInt8 {
        var byte: UInt8 = 0
        guard unsafe Glibc.read(end, &byte, 1) == 1 else { throw BenchmarkError.failed("the line was lost") }
        return byte
    }

    /// - Returns: what came, until that byte.
    @discardableResult
    func send(_ bytes: [UInt8], until last: UInt8) throws -> [UInt8] {
        guard unsafe write(end, bytes, bytes.count) == bytes.count else {
            throw BenchmarkError.failed("the line was lost")
        }
        var answer = [try read()]
        while answer.last != last { answer.append(try read()) }
        return answer
    }
}
