// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Bytes that must not stay behind: in pages of their own, locked into memory where the limit allows it, left out of
/// core dumps and forks, wiped when the last owner lets go. Never printed: every description says the length only.
public final class SecretBytes: Sendable {
    public let count: Int
    private let memory: Mutex<LockedMemory>

    /// Copies `bytes`. The caller's array is not wiped: build secrets with `init(capacity:_:)` where they arise.
    public convenience init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count) { $0.append(contentsOf: bytes) }
    }

    /// Lets `fill` write the secret straight into locked memory. Grows beyond `capacity` if it must.
    ///
    /// - Throws: what `fill` throws.
    public init<Failure: Error>(
        capacity: Int, _ fill: (inout SecretWriter) throws(Failure) -> Void
    ) throws(Failure) {
        var writer = SecretWriter(capacity: capacity)
        try fill(&writer)
        count = writer.count
        memory = Mutex(writer.finish())
    }

    /// The bytes, for the length of the call. Do not copy them into memory that nobody wipes.
    ///
    /// - Throws: what `body` throws.
    public func withSpan<Result: Sendable, Failure: Error>(
        _ body: (borrowing Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.withLock { (memory) throws(Failure) -> Result in
            try body(unsafe memory.bytes(count: count).span)
        }
    }

    /// As `withSpan`, for interfaces that take a pointer (swift-crypto seals a buffer pointer without copying it).
    ///
    /// - Throws: what `body` throws.
    public func withUnsafeBytes<Result: Sendable, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.withLock { (memory) throws(Failure) -> Result in
            try unsafe body(memory.bytes(count: count))
        }
    }

    /// Compares in a time that depends on the lengths only.
    public static func constantTimeEqual(_ left: SecretBytes, _ right: SecretBytes) -> Bool {
        if left === right { return true }
        guard left.count == right.count else { return false }
        return left.withSpan { leftBytes in
            right.withSpan { rightBytes in
                var difference: UInt8 = 0
                for index in leftBytes.indices { difference |= leftBytes[index] ^ rightBytes[index] }
                return difference == 0
            }
        }
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<\(count) secret bytes>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Writes a secret into memory that is wiped and locked; see `SecretBytes.init(capacity:_:)`.
public struct SecretWriter: ~Copyable {
    public private(set) var count = 0
    private var memory: LockedMemory

    fileprivate init(capacity: Int) { memory = LockedMemory(capacity: capacity) }

    public mutating func append(_ byte: UInt8) {
        reserve(1)
        memory.store(byte, at: count)
        count += 1
    }

    @inlinable
    public mutating func append(contentsOf bytes: some Sequence<UInt8>) {
        for byte in bytes { append(byte) }
    }

    /// Appends ASCII or UTF-8 text that is itself no secret (member names, punctuation).
    public mutating func append(text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        text.withUTF8Buffer { buffer in
            for index in 0..<length { memory.store(unsafe buffer[index], at: count &+ index) }
        }
        count += length
    }

    /// Appends two hexadecimal digits a byte, without a `String` in between.
    public mutating func append(hex bytes: borrowing Span<UInt8>) {
        reserve(2 * bytes.count)
        for index in bytes.indices {
            memory.store(SecretWriter.digit(bytes[index] >> 4), at: count)
            memory.store(SecretWriter.digit(bytes[index] & 0x0F), at: count &+ 1)
            count &+= 2
        }
    }

    /// Appends one hexadecimal digit for each value of 0 to 15; of a larger one the lower four bits count.
    public mutating func append(nibbles: borrowing Span<UInt8>) {
        reserve(nibbles.count)
        for index in nibbles.indices {
            memory.store(SecretWriter.digit(nibbles[index] & 0x0F), at: count)
            count &+= 1
        }
    }

    /// As `append(hex:)` of a span, for bytes that lie elsewhere.
    @inlinable
    public mutating func append(hex bytes: some Sequence<UInt8>) {
        for byte in bytes {
            append(SecretWriter.digit(byte >> 4))
            append(SecretWriter.digit(byte & 0x0F))
        }
    }

    /// A byte written before: decompression copies from its own output.
    public subscript(index: Int) -> UInt8 {
        precondition(index < count)
        return memory.load(at: index)
    }

    @inlinable
    static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x37 + nibble }

    private mutating func reserve(_ more: Int) {
        guard memory.capacity &- count < more else { return }
        var larger = LockedMemory(capacity: max(memory.capacity * 2, count + more))
        for index in 0..<count { larger.store(memory.load(at: index), at: index) }
        memory = larger
    }

    fileprivate consuming func finish() -> LockedMemory { memory }
}
