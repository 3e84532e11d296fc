// SPDX-License-Identifier: Apache-2.0
/// The one-way functions of kernel 2's integrated data storage (C-2 §8.2 and §8.3): a digest of eight bytes over an
/// input of eight bytes, under the card's DS ID (8 to 11 bytes) and an operator's identifier (8 bytes). The kernel decides
/// when; the computing is another module's. `nil` for other lengths.
public struct OneWayHash: Sendable {
    /// OWHF2, of data storage version 1.
    public var des: @Sendable (_ identifier: [UInt8], _ operatorIdentifier: [UInt8], _ input: [UInt8]) -> [UInt8]?
    /// OWHF2AES, of data storage version 2.
    public var aes: @Sendable (_ identifier: [UInt8], _ operatorIdentifier: [UInt8], _ input: [UInt8]) -> [UInt8]?

    public init(
        des: @escaping @Sendable (_ identifier: [UInt8], _ operatorIdentifier: [UInt8], _ input: [UInt8]) -> [UInt8]?,
        aes: @escaping @Sendable (_ identifier: [UInt8], _ operatorIdentifier: [UInt8], _ input: [UInt8]) -> [UInt8]?
    ) {
        self.des = des
        self.aes = aes
    }

    /// None at all: nothing is ever written with them.
    public static let unavailable = OneWayHash(des: { _, _, _ in nil }, aes: { _, _, _ in nil })
}
