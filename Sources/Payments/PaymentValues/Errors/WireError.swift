// SPDX-License-Identifier: Apache-2.0
/// A message that cannot be taken: which entry of the catalogue, and the member it is about.
public struct WireError: Error, Equatable, Sendable {
    public var code: ErrorCode
    /// Path of the member, dots between names and `[0]` for elements: `items[1].amount`; `nil` for the whole message.
    public var field: String?

    public init(_ code: ErrorCode, field: String? = nil) {
        self.code = code
        self.field = field
    }
}

extension WireError: CustomStringConvertible {
    public var description: String { field.map { "\(code.rawValue) at \($0)" } ?? code.rawValue }
}
