// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Testing

/// What the server answers to requests that are none, over real sockets, byte for byte as a hostile client sends them.
@Suite(.timeLimit(.minutes(5))) struct ServerRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let refusal: HTTPRefusal

        init(_ name: String, _ text: String, _ refusal: HTTPRefusal) {
            self.init(name, Array(text.utf8), refusal)
        }

        init(_ name: String, _ bytes: [UInt8], _ refusal: HTTPRefusal) {
            (self.name, self.bytes, self.refusal) = (name, bytes, refusal)
        }

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case("blank in the target", "GET /a b HTTP/1.1\r\n\r\n", .malformed),
        Case("no version", "GET /\r\n\r\n", .versionNotSupported),
        Case("no target", "GET  HTTP/1.1\r\n\r\n", .malformed),
        Case("header without a colon", "GET / HTTP/1.1\r\nHost localhost\r\n\r\n", .malformed),
        Case("blank before the colon", "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", .malformed),
        Case("NUL in a header", "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", .malformed),
        Case("folded header", "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", .malformed),
        Case("target without slash", "GET status HTTP/1.1\r\n\r\n", .malformed),
        Case("absolute target", "GET http://localhost/ HTTP/1.1\r\n\r\n", .malformed),
        Case("asterisk target", "OPTIONS * HTTP/1.1\r\n\r\n", .malformed),
        Case("F6 broken percent sign", "GET /%2 HTTP/1.1\r\n\r\n", .invalidTarget),
        Case("F6 no hex digit", "GET /%zz HTTP/1.1\r\n\r\n", .invalidTarget),
        Case("F6 path not UTF-8", "GET /%ff%fe HTTP/1.1\r\n\r\n", .invalidTarget),
        Case("F6 query not UTF-8", "GET /?a=%c3%28 HTTP/1.1\r\n\r\n", .invalidTarget),
        Case("F6 encoded NUL", "GET /%00 HTTP/1.1\r\n\r\n", .invalidTarget),
        Case("F6 encoded line feed", "GET /a%0Ab HTTP/1.1\r\n\r\n", .invalidTarget),
        Case(
            "raw bytes in the target", Array("GET /".utf8) + [0xFF, 0xFE] + Array(" HTTP/1.1\r\n\r\n".utf8), .malformed),
        Case("length not a number", "POST / HTTP/1.1\r\nContent-Length: ten\r\n\r\n", .malformed),
        Case("negative length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .malformed),
        Case("two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", .malformed),
        Case("same length twice", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", .malformed),
        Case("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", .versionNotSupported),
        Case("HTTP/2 in words", "GET / HTTP/2.0\r\n\r\n", .versionNotSupported),
        Case("unknown method", "FROBNICATE / HTTP/1.1\r\n\r\n", .methodNotImplemented),
        Case("method in small letters", "get / HTTP/1.1\r\n\r\n", .methodNotImplemented),
        Case("TLS", [0x16, 0x03, 0x01, 0x00, 0xC8, 0x01, 0x00, 0x00], .methodNotImplemented),
        Case("chunked", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .transferEncodingRefused),
        Case("unknown coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", .transferEncodingRefused),
        Case(
            "length and coding", "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .malformed),
        Case("other expectation", "POST / HTTP/1.1\r\nExpect: wonders\r\n\r\n", .expectationFailed),
        Case("body one byte too large", "POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", .bodyTooLarge),
        Case(
            "body larger than any integer", "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            .malformed),
        Case(
            "one large header", "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 17_000) + "\r\n\r\n",
            .headTooLarge),
        Case("long target", "GET /" + String(repeating: "a", count: 17_000) + " HTTP/1.1\r\n\r\n", .headTooLarge),
        Case(
            "many headers", "GET / HTTP/1.1\r\n" + String(repeating: "X: a\r\n", count: 101) + "\r\n", .headTooLarge),
        Case(
            "blanks without end", "GET / HTTP/1.1\r\nX:" + String(repeating: " ", count: 20_000), .headTooLarge),
    ]

    @Test(arguments: cases)
    func `A broken request gets its status and a JSON body, and the connection ends`(_ wrong: Case) async throws {
        try await withServer(handler: echo) { path, _ in
            let answer = try await exchange(wrong.bytes, at: path)
            #expect(answer.status == wrong.refusal.status, "\(answer.prefix(60))")
            #expect(answer.contains("\"code\":\"http.\(wrong.refusal.rawValue)\""), "\(answer)")
            #expect(answer.lowercased().contains("connection: close"))
        }
    }

    @Test func `The largest head and the largest body allowed are served`() async throws {
        try await withServer(handler: echo) { path, _ in
            let lines = "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: 65536\r\nX: "
            let padding = String(repeating: "a", count: 16 * 1024 - lines.utf8.count - 4)
            let answer = try await exchange(
                lines + padding + "\r\n\r\n" + String(repeating: "b", count: 65_536), at: path)
            #expect(answer.status == 200, "\(answer.prefix(60))")
            #expect(answer.hasSuffix("bbb"))
        }
    }

    @Test func `A sender of a far too large body gets to read the answer`() async throws {
        try await withServer(handler: echo) { path, _ in
            let head = "POST / HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n"
            let answer = try await exchange(Array(head.utf8) + [UInt8](repeating: 0x61, count: 5_000_000), at: path)
            #expect(answer.status == 413, "\(answer.prefix(60))")
        }
    }

    @Test(arguments: [
        ("GET /", HTTPRefusal.headTimedOut), ("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf", .bodyTimedOut),
    ])
    func `A slow sender is told so`(_ text: String, _ refusal: HTTPRefusal) async throws {
        var limits = HTTPLimits.patient
        if refusal == .headTimedOut { limits.headTime = .milliseconds(100) }
        limits.bodyTime = .milliseconds(100)
        try await withServer(limits: limits, handler: echo) { path, _ in
            let answer = try await exchange(text, at: path)
            #expect(answer.status == 408)
            #expect(answer.contains(refusal.rawValue), "\(answer)")
        }
    }

    @Test func `A sender that drips a byte at a time does not stretch the deadline`() async throws {
        var limits = HTTPLimits.patient
        limits.headTime = .milliseconds(300)
        try await withServer(limits: limits, handler: echo) { path, _ in
            let answer = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET /")
                var sent = 0
                while sent < 10_000 {
                    socket.send("a")
                    sent += 1
                    if socket.isReadable(within: 10) { break }
                }
                return socket.readToEnd()
            }
            #expect(answer.status == 408, "\(answer)")
        }
    }

    @Test(arguments: ["GET / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"])
    func `A sender that shuts its side in mid-request is told so`(_ text: String) async throws {
        try await withServer(handler: echo) { path, _ in
            let answer = try await blocking {
                let socket = try RawSocket(path)
                socket.send(text)
                socket.halfClose()
                return socket.readToEnd()
            }
            #expect(answer.status == 400)
            #expect(answer.contains("http.incomplete"), "\(answer)")
        }
    }

    @Test func `A second request in the same packet is refused after the first was answered`() async throws {
        try await withServer(handler: echo) { path, _ in
            let answer = try await exchange("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", at: path)
            #expect(answer.status == 200)
            #expect(answer.contains("[\"1\"]"))
            #expect(!answer.contains("[\"2\"]"))
            #expect(answer.contains("http.pipelined"), "\(answer)")
        }
    }

    @Test func `A second request while the handler works is refused after the first was answered`() async throws {
        let arrived = Gate()
        let mayAnswer = Gate()
        try await withServer(
            handler: { request in
                arrived.open()
                await mayAnswer.wait()
                return await echo(request)
            }
        ) { path, _ in
            let socket = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET /1 HTTP/1.1\r\n\r\n")
                return socket
            }
            await arrived.wait()
            let answer = try await blocking {
                socket.send("GET /2 HTTP/1.1\r\nConnection: close\r\n\r\n")
                mayAnswer.open()
                return socket.readToEnd()
            }
            #expect(answer.contains("[\"1\"]"))
            #expect(answer.contains("http.pipelined") || answer.contains("[\"2\"]"), "\(answer)")
        }
    }

    @Test func `Every refusal has a status of its kind and one line of JSON`() {
        for refusal in HTTPRefusal.allCases {
            #expect((400...599).contains(refusal.status))
            #expect(refusal.message.utf8.count <= 128)
            #expect(!refusal.message.hasSuffix("."))
            #expect(!refusal.json.contains(0x0A))
            #expect(refusal.isRetryable == [408, 429, 503].contains(refusal.status))
        }
    }
}
