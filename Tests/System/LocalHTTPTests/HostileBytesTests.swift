// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Testing

/// Requests damaged at random, from fixed seeds: whatever they are, the server answers or closes, and lives.
@Suite(.timeLimit(.minutes(5))) struct HostileBytesTests {
    /// SplitMix64, so that a failure can be repeated by its seed.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    private static let sound = Array(
        "POST /v1/transactions?wait=3 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
            .utf8)

    private static func damaged(_ generator: inout Generator) -> [UInt8] {
        var bytes = sound
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
            default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
            }
            if bytes.isEmpty { bytes = [0] }
        }
        return bytes
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `No damage to a request stops the server`(_ seed: UInt64) async throws {
        try await withServer(handler: echo) { path, _ in
            var generator = Generator(state: seed)
            for round in 0..<40 {
                let bytes = Self.damaged(&generator)
                let answer = try await blocking {
                    let socket = try RawSocket(path)
                    socket.send(bytes)
                    socket.halfClose()
                    return socket.readToEnd()
                }
                let status = answer.status ?? (answer.hasPrefix("HTTP/1.1 100") ? 100 : nil)
                #expect(status.map { (100...505).contains($0) } ?? answer.isEmpty, "round \(round): \(answer)")
            }
            let answer = try await exchange("GET /alive HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(answer.contains("[\"alive\"]"))
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `No damage to an answer does more than fail the request`(_ seed: UInt64) async throws {
        let sound = Array(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: x\n\n".utf8)
        var generator = Generator(state: seed)
        for _ in 0..<20 {
            var bytes = sound
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            bytes.removeLast(Int.random(in: 0..<20, using: &generator))
            let answer = bytes
            try await withFolder { folder in
                try await ScriptedServer.serve(at: folder + "/s", answer, .close) {
                    let client = HTTPClient(path: folder + "/s")
                    do throws(HTTPClientError) {
                        let answer = try await client.send(HTTPClientRequest(.get, "/"), answerWithin: .seconds(20))
                        #expect(answer.body.count <= 9)
                    } catch {
                        #expect(!error.isSafeToRepeat, "\(error)")
                    }
                }
            }
        }
    }
}
