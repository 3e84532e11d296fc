// SPDX-License-Identifier: Apache-2.0
import NIOHTTP1

/// Request line and header fields as parsed, and what of them the server refuses.
struct RequestHead {
    var method: String
    var target: String
    var isVersionSupported: Bool
    var keepAlive: Bool
    var fields: HTTPFields

    /// The client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool { fields.contains("Expect") && contentLength.map { $0 > 0 } ?? false }

    func refusal(_ limits: HTTPLimits) -> HTTPRefusal? {
        if !isVersionSupported { return .versionNotSupported }
        if size > limits.headBytes { return .headTooLarge }
        // Two ways to say where a body ends are how requests get smuggled past a proxy (RFC 9112 §6.1).
        if fields.contains("Transfer-Encoding") { return .transferEncodingRefused }
        if !fields.all("Expect").allSatisfy({ $0.lowercased() == "100-continue" }) { return .expectationFailed }
        if fields.contains("Content-Length") {
            guard let contentLength else { return .malformed }
            if contentLength > limits.bodyBytes { return .bodyTooLarge }
        }
        return nil
    }

    private var contentLength: Int? {
        guard let value = fields.only("Content-Length"), !value.isEmpty,
            value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        // So many digits that they fit no Int are too large, not malformed.
        return Int(value) ?? .max
    }

    /// As sent: blanks and line ends counted as one writes them.
    private var size: Int {
        let line = method.utf8.count + target.utf8.count + "  HTTP/1.1\r\n".utf8.count
        return fields.fields.reduce(line + 2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }
}

extension RequestHead {
    init(_ head: HTTPRequestHead) {
        var fields = HTTPFields()
        for (name, value) in head.headers { fields.append(name, value) }
        self.init(
            method: head.method.rawValue, target: head.uri, isVersionSupported: head.version == .http1_1,
            keepAlive: head.isKeepAlive, fields: fields)
    }
}
