// SPDX-License-Identifier: Apache-2.0
/// The transport header some hosts want before each message: 60, destination and source of two bytes each.
public struct TPDU: Hashable, Sendable {
    public var identifier: UInt8
    public var destination: UInt16
    public var source: UInt16

    public init(identifier: UInt8 = 0x60, destination: UInt16, source: UInt16) {
        self.identifier = identifier
        self.destination = destination
        self.source = source
    }

    /// That of an answer.
    public var swapped: TPDU { TPDU(identifier: identifier, destination: source, source: destination) }

    var bytes: [UInt8] {
        [
            identifier, UInt8(destination >> 8), UInt8(destination & 0xFF), UInt8(source >> 8), UInt8(source & 0xFF),
        ]
    }
}

/// How messages are told apart on a connection.
public struct FrameFormat: Equatable, Sendable {
    public enum Length: String, Sendable, CaseIterable {
        /// Two bytes, the higher one first.
        case binary2
        /// Two bytes of two decimal digits each.
        case bcd2
        /// Four decimal digits in ASCII.
        case ascii4
    }

    public let length: Length
    /// Whether the length counts itself.
    public let countsItself: Bool
    public let hasTPDU: Bool
    /// Whom the TPDU of a request names.
    public let destination: UInt16

    public init(
        length: Length = .binary2, countsItself: Bool = false, hasTPDU: Bool = false, destination: UInt16 = 1
    ) {
        self.length = length
        self.countsItself = countsItself
        self.hasTPDU = hasTPDU
        self.destination = destination
    }

    var lengthBytes: Int { length == .ascii4 ? 4 : 2 }

    /// `message` with what stands before it. A format with TPDU needs one, another has none.
    public func frame(_ message: [UInt8], _ header: TPDU? = nil) throws(FrameError) -> [UInt8] {
        guard (header != nil) == hasTPDU else { throw .header }
        let body = (header?.bytes ?? []) + message
        guard body.count <= Packager.mostBytes else { throw .tooLong(count: body.count, most: Packager.mostBytes) }
        return announced(body.count + (countsItself ? lengthBytes : 0)) + body
    }

    /// A frame with nothing in it, which keeps a connection open.
    public var keepAlive: [UInt8] { announced(countsItself ? lengthBytes : 0) }

    private func announced(_ count: Int) -> [UInt8] {
        let digits = [count / 1000 % 10, count / 100 % 10, count / 10 % 10, count % 10].map { UInt8($0) }
        return switch length {
        case .binary2: [UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
        case .bcd2: [digits[0] << 4 | digits[1], digits[2] << 4 | digits[3]]
        case .ascii4: digits.map { $0 + 0x30 }
        }
    }

    /// The body's length that these bytes announce.
    func count(_ bytes: ArraySlice<UInt8>) throws(FrameError) -> Int {
        let announced: Int
        switch length {
        case .binary2: announced = bytes.reduce(0) { $0 << 8 | Int($1) }
        case .bcd2:
            guard bytes.allSatisfy({ $0 >> 4 < 10 && $0 & 0x0F < 10 }) else { throw .notALength }
            announced = bytes.reduce(0) { $0 * 100 + Int($1 >> 4) * 10 + Int($1 & 0x0F) }
        case .ascii4:
            guard bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .notALength }
            announced = bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        let count = announced - (countsItself ? lengthBytes : 0)
        guard count >= 0 else { throw .notALength }
        guard count <= Packager.mostBytes else { throw .tooLong(count: count, most: Packager.mostBytes) }
        return count
    }
}

/// Why a connection's bytes are not frames. The connection has to be closed: where the next one begins is not known.
public enum FrameError: Error, Equatable, Sendable {
    case notALength
    case tooLong(count: Int, most: Int)
    /// A TPDU too few, too many or cut off.
    case header
}

/// Cuts what a connection brings into frames. After an error it brings nothing but that error.
public struct FrameReader: Sendable {
    public enum Frame: Equatable, Sendable {
        case message([UInt8], TPDU?)
        case keepAlive
    }

    private let format: FrameFormat
    private var pending: [UInt8] = []
    private var broken: FrameError?
    /// The bytes that stood where a length has to, once one was refused: no card data is among them.
    public private(set) var refusedHead: [UInt8]?

    public init(_ format: FrameFormat) { self.format = format }

    public mutating func append(_ bytes: some Sequence<UInt8>) {
        if broken == nil { pending += bytes }
    }

    /// The next whole frame; `nil` until more has come.
    public mutating func next() throws(FrameError) -> Frame? {
        if let broken { throw broken }
        do throws(FrameError) {
            return try cut()
        } catch {
            broken = error
            refusedHead = Array(pending.prefix(format.lengthBytes))
            pending = []
            throw error
        }
    }

    private mutating func cut() throws(FrameError) -> Frame? {
        let head = format.lengthBytes
        guard pending.count >= head else { return nil }
        let count = try format.count(pending.prefix(head))
        guard pending.count >= head + count else { return nil }
        let body = Array(pending[head..<(head + count)])
        // A new array: the old one's bytes would stay behind the end of what is left. Freed memory is overwritten.
        pending = Array(pending[(head + count)...])
        if body.isEmpty { return .keepAlive }
        guard format.hasTPDU else { return .message(body, nil) }
        guard body.count > 5 else { throw .header }
        let header = TPDU(
            identifier: body[0], destination: UInt16(body[1]) << 8 | UInt16(body[2]),
            source: UInt16(body[3]) << 8 | UInt16(body[4]))
        return .message(Array(body[5...]), header)
    }
}

extension FrameReader.Frame: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// By its length alone: the bytes hold card data.
    public var description: String {
        switch self {
        case .message(let bytes, _): "message of \(bytes.count) bytes"
        case .keepAlive: "keep-alive"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
