// SPDX-License-Identifier: Apache-2.0
/// Overwrites bytes that a cryptography library handed out in ordinary memory, before that memory is given back.
@inline(never)
func wipe<Bytes: MutableCollection>(_ bytes: inout Bytes) where Bytes.Element == UInt8 {
    var index = bytes.startIndex
    while index != bytes.endIndex {
        bytes[index] = 0
        bytes.formIndex(after: &index)
    }
}
