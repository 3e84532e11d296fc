// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One data object with its value as sent or stored, without tag and length.
///
/// Descriptions show the tag and the number of bytes only: values may be card data.
public struct DataObject: Equatable, Sendable {
    public let tag: Tag
    public let value: [UInt8]

    public init(_ tag: Tag, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    public init(tag: Tag, value: [UInt8]) { self.init(tag, value) }
}

extension DataObject: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(tag) (\(value.count) bytes)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [DataObject] {
    /// The value of the first object with `tag`.
    public func value(of tag: Tag) -> [UInt8]? { first { $0.tag == tag }?.value }

    /// The objects as BER-TLV with minimal lengths, in their order.
    public var encoded: [UInt8] {
        var writer = TLVWriter()
        for object in self { writer.append(object.tag, object.value) }
        return writer.bytes
    }
}
