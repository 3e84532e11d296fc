// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import LocalHTTP

@Suite(.timeLimit(.minutes(5))) struct SecretBodyTests {
    private static func secret(_ count: Int) -> SecretBody {
        SecretBody(count: count) { next in for index in 0..<count { next(UInt8(0x61 + index % 26)) } }
    }

    private func handler(_ count: Int) -> HTTPHandler {
        { _ in HTTPResponse(status: 200, body: .secret(Self.secret(count))) }
    }

    @Test(arguments: [0, 1, 26, 100_000])
    func `A secret body arrives whole`(count: Int) async throws {
        try await withServer(handler: handler(count)) { path, _ in
            let answer = try await exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(answer.status == 200)
            #expect(answer.contains("Content-Length: \(count)\r\n"))
            let body = String((0..<count).map { Character(UnicodeScalar(UInt8(0x61 + $0 % 26))) })
            #expect(answer.hasSuffix("\r\n\r\n" + body))
        }
    }

    @Test func `HEAD tells its length only`() async throws {
        try await withServer(handler: handler(26)) { path, _ in
            let answer = try await exchange("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(answer.contains("Content-Length: 26\r\n") && answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func `Two answers on one connection are both whole`() async throws {
        try await withServer(handler: handler(26)) { path, _ in
            let text = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                let first = socket.read(until: "xyz")
                socket.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
                return first + socket.readToEnd()
            }
            #expect(text.ranges(of: "abcdefghijklmnopqrstuvwxyz").count == 2)
        }
    }
}
