// SPDX-License-Identifier: Apache-2.0
/// Cards that a terminal refuses offline, by PAN digits (0…9 each) and PAN sequence number (5F34).
public struct ExceptionFile: Sendable {
    public var contains: @Sendable (_ pan: [UInt8], _ sequenceNumber: UInt8?) -> Bool

    public init(contains: @escaping @Sendable (_ pan: [UInt8], _ sequenceNumber: UInt8?) -> Bool) {
        self.contains = contains
    }

    public static let empty = ExceptionFile(contains: { _, _ in false })
}
