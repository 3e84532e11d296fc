// SPDX-License-Identifier: Apache-2.0
/// A data object as a person wants to read it.
public struct DecodedObject: Equatable, Sendable, Encodable {
    public let tag: String
    /// By the data dictionary; `nil` for an unknown tag and for one whose meaning depends on a kernel that is not known.
    public let name: String?
    /// Every meaning of a tag whose meaning depends on the kernel, where the kernel is not known; otherwise empty.
    public let possibleNames: [String]
    /// Offset of the tag in the input, in bytes.
    public let offset: Int
    /// Bytes of value: present, or wanted by a data object list.
    public let length: Int
    /// In hexadecimal; `nil` for templates, for values that are hidden and in data object lists.
    public let value: String?
    /// The value is there, but not shown.
    public let isHidden: Bool
    public let meanings: [Meaning]
    /// Objects inside a template.
    public let children: [DecodedObject]
}
