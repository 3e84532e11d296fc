// SPDX-License-Identifier: Apache-2.0
/// One thing that a value says.
public struct Meaning: Equatable, Sendable, Encodable {
    /// The part of the value that says it: `byte 1 bit 8`, `bytes 1-4`; `nil` for the value as a whole.
    public let part: String?
    public let text: String

    init(_ part: String, _ text: String) {
        self.part = part
        self.text = text
    }

    init(_ text: String) {
        part = nil
        self.text = text
    }
}
