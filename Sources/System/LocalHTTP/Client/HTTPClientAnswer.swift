// SPDX-License-Identifier: Apache-2.0
/// A whole answer.
public struct HTTPClientAnswer: Equatable, Sendable {
    public var status: Int
    public var fields: HTTPFields
    public var body: [UInt8]

    public init(status: Int, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
