// SPDX-License-Identifier: Apache-2.0
/// Why a text is not the JSON that `JSONIndex` takes; offsets in bytes from its start.
package enum JSONIndexError: Error, Equatable, Sendable {
    case unexpected(offset: Int)
    case truncated
    case nestedTooDeep(offset: Int)
    /// The same member name twice in one object: which one counts would be a matter of the reader.
    case duplicateMember(offset: Int)
    case tooManyMembers(offset: Int)
}
