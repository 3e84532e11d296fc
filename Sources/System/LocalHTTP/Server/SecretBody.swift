// SPDX-License-Identifier: Apache-2.0
/// The bytes of an answer that must not stay behind in this process: written once, straight into the buffer that goes
/// out, which is wiped as soon as the kernel has it.
public struct SecretBody: Sendable {
    /// In bytes.
    public let count: Int
    /// Hands over `count` bytes, one after the other.
    let write: @Sendable (_ next: (UInt8) -> Void) -> Void

    /// - Parameter write: is called once and calls `next` for each of `count` bytes.
    public init(count: Int, write: @escaping @Sendable (_ next: (UInt8) -> Void) -> Void) {
        self.count = count
        self.write = write
    }
}
