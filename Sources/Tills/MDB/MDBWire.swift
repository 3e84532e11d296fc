// SPDX-License-Identifier: Apache-2.0

/// A peripheral behind a line whose other end writes words as `MDBLine.marked` has them: bytes come in, and an answer goes out in time or not
/// at all. Times are nanoseconds of a clock that nobody sets.
///
/// Nobody says when a byte came. What is certain is that whatever is read has come after the last look at which nothing waited. So
/// whoever has the line looks every two milliseconds while nothing comes, tells of it by `quiet`, and asks `answer` right before it
/// writes.
public struct MDBWire: Sendable {
    public private(set) var peripheral: MDBPeripheral
    /// Answers that would have begun too late.
    public private(set) var leftOut = 0
    private var marks = MDBMarks()
    private var quietAt: UInt64
    /// When the machine's answer to a block has to be here.
    private var due: UInt64?

    /// A word at 9600 baud: eleven bits.
    private static let wordTime: UInt64 = 1_146_000
    private static let answerTime = UInt64(MDBLine.answerTime) * 1_000_000

    public init(_ peripheral: MDBPeripheral, at now: UInt64) { (self.peripheral, quietAt) = (peripheral, now) }

    /// Nothing waits on the line to be read.
    public mutating func quiet(at now: UInt64) -> [MDBEffect] {
        quietAt = now
        guard let due, now > due else { return [] }
        self.due = nil
        return peripheral.handle(.silence)
    }

    public mutating func receive(_ bytes: [UInt8]) -> [MDBEffect] {
        bytes.flatMap { byte in marks.take(byte).map { peripheral.receive($0) } ?? [] }
    }

    /// What happens besides the line.
    public mutating func handle(_ input: MDBInput) -> [MDBEffect] { peripheral.handle(input) }

    /// - Returns: what is to be written now for a `send`; `nil` where it would begin too late. The machine says the same again then.
    public mutating func answer(_ words: [UInt16], at now: UInt64) -> [UInt8]? {
        guard now &- quietAt <= Self.answerTime else {
            leftOut += 1
            _ = peripheral.handle(.silence)
            return nil
        }
        due = words.count > 1 ? now + UInt64(words.count) * Self.wordTime + Self.answerTime : nil
        return MDBLine.marked(words)
    }
}
