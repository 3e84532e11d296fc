// SPDX-License-Identifier: Apache-2.0
/// What a connection's task hands to its channel.
enum ServerWrite: Sendable {
    case answer(
        status: Int, fields: HTTPFields, body: [UInt8], isHead: Bool, whenWritten: (@Sendable (Bool) -> Void)? = nil)
    case secretAnswer(status: Int, fields: HTTPFields, body: SecretBody, isHead: Bool)
    case streamHead(HTTPFields)
    case streamBytes([UInt8])
    case streamEnd
}
