// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// One request on its way, and where its outcome goes.
struct ClientExchange: Sendable {
    typealias Outcome = Result<HTTPClientAnswer, HTTPClientError>

    let id: UInt64
    let request: HTTPClientRequest
    let keepAlive: Bool
    let time: Duration
    let promise: EventLoopPromise<Outcome>

    /// Ends the exchange with this number, wherever it stands.
    struct Cancel: Sendable { let id: UInt64 }
}

extension HTTPClientRequest {
    /// Whether it can be written without changing its meaning: a target in origin form, tokens for names.
    var isSendable: Bool {
        target.utf8.first == UInt8(ascii: "/") && authority.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && Self.isToken(method.rawValue) && fields.fields.allSatisfy { Self.isToken($0.name) }
    }

    func head(keepAlive: Bool) -> HTTPRequestHead {
        var headers = NIOHTTP1.HTTPHeaders()
        headers.add(name: "Host", value: authority)
        for field in fields.fields { headers.add(name: field.name, value: field.value) }
        if !body.isEmpty || method != .get { headers.replaceOrAdd(name: "Content-Length", value: String(body.count)) }
        headers.remove(name: "Transfer-Encoding")
        if !keepAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        return HTTPRequestHead(
            version: .http1_1, method: NIOHTTP1.HTTPMethod(rawValue: method.rawValue), uri: target, headers: headers)
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

extension HTTPClientAnswer {
    init(_ head: HTTPResponseHead) {
        var fields = HTTPFields()
        for (name, value) in head.headers { fields.append(name, value) }
        self.init(status: Int(head.status.code), fields: fields)
    }
}
