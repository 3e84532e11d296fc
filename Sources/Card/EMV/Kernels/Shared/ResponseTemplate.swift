// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The one template that an answer consists of.
struct ResponseTemplate {
    let tag: Tag
    /// The template's value.
    let value: Range<Int>
    /// Offset of the template's tag.
    let start: Int

    /// - Throws: `.malformed` for bytes that are no BER-TLV object, `.wrongTemplate` where anything but padding follows it
    ///   or there is none.
    init(_ data: [UInt8]) throws(CardDataError) {
        var first: TLVNode?
        do throws(TLVError) {
            try TLV.walk(data.span) { node in
                first = node
                return false
            }
        } catch {
            throw .malformed(error)
        }
        guard let first else { throw .wrongTemplate }
        for offset in first.end..<data.count where data[offset] != 0x00 && data[offset] != 0xFF {
            throw .wrongTemplate
        }
        tag = first.tag
        value = first.value
        start = first.start
    }
}
