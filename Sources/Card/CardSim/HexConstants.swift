// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension [UInt8] {
    /// A constant of this module. A typing mistake in it yields no bytes at all, which the tests of every card notice.
    static func hex(_ text: String) -> [UInt8] { (try? Hex.bytes(text)) ?? [] }
}
