// SPDX-License-Identifier: Apache-2.0

/// A request of HTTP, with the headers that matter here.
public struct ProxyRequest: Equatable, Sendable {
    public var method: String
    public var path: String
    public var host: String?
    public var origin: String?
    public var contentType: String?
    /// `Access-Control-Request-Private-Network: true`.
    public var asksForPrivateNetwork: Bool
    public var body: [UInt8]

    public init(
        _ method: String, _ path: String, host: String? = nil, origin: String? = nil, contentType: String? = nil,
        asksForPrivateNetwork: Bool = false, body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.host = host
        self.origin = origin
        self.contentType = contentType
        self.asksForPrivateNetwork = asksForPrivateNetwork
        self.body = body
    }
}

public struct ProxyResponse: Equatable, Sendable {
    public struct Header: Equatable, Sendable {
        public let name: String
        public let value: String
    }

    public var status: Int
    public var headers: [Header]
    public var body: [UInt8]

    init(_ status: Int, text: String = "", type: String = "text/plain") {
        self.status = status
        headers = text.isEmpty ? [] : [Header(name: "Content-Type", value: type)]
        body = Array(text.utf8)
    }

    /// The result of a call, as JSON.
    init(result: String, id: String) {
        self.init(
            200, text: "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}", type: "application/json")
    }

    func with(_ name: String, _ value: String) -> ProxyResponse {
        var response = self
        response.headers.append(Header(name: name, value: value))
        return response
    }
}
