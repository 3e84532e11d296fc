// SPDX-License-Identifier: Apache-2.0
/// One whole request as the handler of an `HTTPServer` receives it.
public struct HTTPRequest: Sendable {
    /// HEAD arrives as GET: the server leaves out the body of the answer itself.
    public var method: HTTPMethod
    /// The path's segments, percent-decoded: `/v1/lanes/a%2Fb` is `["v1", "lanes", "a/b"]`, `/` is `[]`. A trailing
    /// slash is a last, empty segment.
    public var path: [String]
    /// The query's items in order, decoded.
    public var query: [QueryItem]
    public var fields: HTTPFields
    /// The body's bytes, at most `HTTPLimits.bodyBytes`. Not checked for UTF-8: see `text`.
    public var body: [UInt8]
    /// The connection it came by, with the peer's credentials.
    public var connection: HTTPConnection

    public init(
        method: HTTPMethod, path: [String], query: [QueryItem] = [], fields: HTTPFields = HTTPFields(),
        body: [UInt8] = [], connection: HTTPConnection
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        self.body = body
        self.connection = connection
    }

    public struct QueryItem: Equatable, Sendable {
        public var name: String
        /// Empty for `?name` and for `?name=`.
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Who sent it.
    public var peer: PeerCredentials { connection.peer }

    /// The body as text, `nil` where it is not UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }
}
