// SPDX-License-Identifier: Apache-2.0
/// One data object found by `TLV`: where it stands in the buffer that was walked. Nothing is copied.
public struct TLVNode: Equatable, Sendable {
    public let tag: Tag
    /// 0 for a top-level object, 1 for its children, and so on.
    public let depth: Int
    /// Offset of the tag's first byte.
    public let start: Int
    /// Offsets of the value, half-open.
    public let value: Range<Int>

    public init(tag: Tag, depth: Int, start: Int, value: Range<Int>) {
        self.tag = tag
        self.depth = depth
        self.start = start
        self.value = value
    }

    /// Offset after the value's last byte.
    public var end: Int { value.upperBound }
}
