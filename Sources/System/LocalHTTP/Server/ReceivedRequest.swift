// SPDX-License-Identifier: Apache-2.0
/// A request that is complete and within the limits.
struct ReceivedRequest: Equatable, Sendable {
    var method: HTTPMethod
    var target: RequestTarget
    var fields: HTTPFields
    var body: [UInt8] = []

    /// HEAD is GET whose answer has no body (RFC 9110 §9.3.2).
    var isHead: Bool { method == .head }
}
