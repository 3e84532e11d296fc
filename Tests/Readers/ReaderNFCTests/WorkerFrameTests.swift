// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ReaderNFC

@Suite("Frames between reader and worker")
struct WorkerFrameTests {
    static let requests: [WorkerRequest] = [
        .open(connection: "pn532_uart:/dev/ttyUSB0"), .poll(milliseconds: 0, broadcast: []),
        .poll(milliseconds: .max, broadcast: [0x6A, 0x01, 0x00, 0x00, 0x02]),
        .transceive(command: [0x00, 0xA4, 0x04, 0x00], milliseconds: 5_000), .checkPresence, .release,
        .awaitRemoval(milliseconds: 1), .abort, .close,
    ]
    static let answers: [WorkerAnswer] = [
        .opened(chip: "PN532 v1.6"), .collision, .emptied, .unreadable, .response([]),
        .response([UInt8](repeating: 0xA5, count: 512)),
        .present(true), .present(false), .done, .failed(.faulty, code: -90), .failed(.inUse, code: 11),
        .card(
            CardActivation(technology: .typeA, uid: [1, 2, 3, 4, 5, 6, 7], answerToSelect: [0x78, 0x80], sak: 0x20)),
        .card(CardActivation(technology: .typeB, uid: [1, 2, 3, 4], answerToSelect: [0x80, 0x81, 0x71])),
    ]

    @Test(arguments: requests) func `A request reads back as it was written`(request: WorkerRequest) throws {
        var bytes = try #require(request.frame(id: 0x01020304).bytes)
        let frame = try #require(try WorkerFrame.take(from: &bytes))
        #expect(frame.id == 0x01020304)
        #expect(try WorkerRequest(frame) == request)
        #expect(bytes.isEmpty)
    }

    @Test(arguments: answers) func `An answer reads back as it was written`(answer: WorkerAnswer) throws {
        var bytes = try #require(answer.frame(id: 7).bytes)
        #expect(try WorkerAnswer(#require(try WorkerFrame.take(from: &bytes))) == answer)
    }

    @Test func `A stream may arrive byte by byte`() throws {
        var received: [UInt8] = []
        var frames: [WorkerFrame] = []
        for byte in Self.answers.flatMap({ $0.frame(id: 9).bytes ?? [] }) {
            received.append(byte)
            while let frame = try WorkerFrame.take(from: &received) { frames.append(frame) }
        }
        #expect(try frames.map { try WorkerAnswer($0) } == Self.answers)
        #expect(received.isEmpty)
    }

    @Test(arguments: [0, 4, 1_025, 65_535]) func `A length outside the limits ends the stream`(length: Int) {
        var bytes = UInt16(length).bigEndianBytes + [UInt8](repeating: 0, count: 8)
        #expect(throws: WorkerProtocolError.badLength(length)) { try WorkerFrame.take(from: &bytes) }
    }

    @Test func `A payload beyond the limit is not sent`() {
        let payload = [UInt8](repeating: 0, count: WorkerFrame.longest - 4)
        #expect(WorkerFrame(kind: 1, id: 1, payload: payload).bytes == nil)
        #expect(WorkerFrame(kind: 1, id: 1, payload: payload.dropLast()).bytes?.count == WorkerFrame.longest + 2)
    }

    static let badAnswers: [(kind: UInt8, payload: [UInt8], error: WorkerProtocolError)] = [
        (0x82, [0, 1, 0x20, 11] + [UInt8](repeating: 0, count: 20), .badLength(11)),
        (0x82, [0, 1, 0x20, 4, 1, 2, 3], .truncated),
        (0x82, [2, 1, 0x20, 0, 0], .unknownValue(2)),
        (0x82, [0, 1, 0x20, 0, 0, 0], .trailingBytes(1)),
        (0x82, [0, 1, 0x20, 1, 9, 0xFF] + [UInt8](repeating: 0, count: 255), .badLength(255)),
        (0x85, [2], .unknownValue(2)), (0x85, [], .truncated), (0x86, [0], .trailingBytes(1)),
        (0x87, [0, 0, 0, 0, 0], .unknownValue(0)), (0x87, [1, 0, 0], .truncated), (0x01, [], .unknownKind(1)),
    ]

    @Test(arguments: badAnswers)
    func `A malformed answer is refused`(kind: UInt8, payload: [UInt8], error: WorkerProtocolError) {
        #expect(throws: error) { try WorkerAnswer(WorkerFrame(kind: kind, id: 1, payload: payload)) }
    }

    static let badRequests: [(kind: UInt8, payload: [UInt8], error: WorkerProtocolError)] = [
        (0x01, [], .badLength(0)), (0x01, [UInt8](repeating: 0x41, count: 1_001), .badLength(1_001)),
        (0x02, [0, 0, 1], .truncated), (0x02, [UInt8](repeating: 0, count: 25), .badLength(21)),
        (0x03, [0], .truncated),
        (0x08, [1], .trailingBytes(1)), (0x00, [], .unknownKind(0)), (0xFF, [], .unknownKind(0xFF)),
    ]

    @Test(arguments: badRequests)
    func `A malformed request is refused`(kind: UInt8, payload: [UInt8], error: WorkerProtocolError) {
        #expect(throws: error) { try WorkerRequest(WorkerFrame(kind: kind, id: 1, payload: payload)) }
    }
}
