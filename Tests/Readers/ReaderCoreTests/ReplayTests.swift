// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import Testing

@Suite struct ReplayTests {
    static let twoCards = """
        source: a test
        + technology=typeA uid=01020304
        > 00A4040000
        < 6F009000
        > 80A8000000
        ! cardLost
        -
        + collision
        + empty
        + technology=typeB
        > 00B2010C00
        < 7000 9000
        -
        """

    @Test func `a replay gives what was recorded, activation and loss of the card included`() throws {
        let reader = ReplayReader(try Transcript(parsing: Self.twoCards))
        #expect(reader.identity.name == "a test")
        #expect(try activate(reader) == .card(CardActivation(technology: .typeA, uid: [1, 2, 3, 4])))
        #expect(try transmit("00A4040000", reader).data == [0x6F, 0x00])
        #expect(throws: ReaderError.cardLost) { _ = try transmit("80A8000000", reader) }
        reader.release()
        #expect(try activate(reader) == .collision)
        #expect(try activate(reader) == .emptied)
        #expect(try activate(reader) == .card(CardActivation(technology: .typeB)))
        #expect(try transmit("00B2010C00", reader).data == [0x70, 0x00])
        #expect(reader.remainingSteps == 0)
        #expect(reader.mismatch == nil)
        #expect(throws: ReaderError.timedOut) { _ = try activate(reader) }
        #expect(reader.mismatch == nil)
    }

    @Test func `another command than recorded is a mismatch with its step, and nothing is answered after it`() throws {
        let reader = ReplayReader(try Transcript(parsing: Self.twoCards))
        _ = try activate(reader)
        #expect(throws: ReaderError.cardLost) { _ = try transmit("00A4040001AA00", reader) }
        #expect(throws: ReaderError.cardLost) { _ = try transmit("00A4040000", reader) }
        let mismatch = try #require(reader.mismatch)
        #expect(mismatch.step == 1)
        #expect(mismatch.actual == .transmit(try CommandAPDU(try Hex.bytes("00A4040001AA00"))))
        #expect(
            mismatch.description
                == "step 1: expected command 00A40400 with 0 data bytes, got command 00A40400 with 1 data bytes")
    }

    @Test func `a command after the end is a mismatch`() throws {
        let reader = ReplayReader(try Transcript(parsing: "> 00A4040000\n< 9000"))
        _ = try activate(reader)
        _ = try transmit("00A4040000", reader)
        #expect(throws: ReaderError.cardLost) { _ = try transmit("00A4040000", reader) }
        #expect(reader.mismatch?.step == 1)
        #expect(reader.mismatch?.expected == nil)
    }

    @Test func `an activation where a command was recorded is a mismatch`() throws {
        let reader = ReplayReader(try Transcript(parsing: "> 00A4040000\n< 9000\n> 00A4040000\n< 9000"))
        #expect(try activate(reader) == .card(CardActivation()))
        _ = try transmit("00A4040000", reader)
        #expect(throws: ReaderError.cardLost) { _ = try activate(reader) }
        #expect(reader.mismatch?.actual == .activate)
    }

    @Test func `a cancelled wait is cancelled in a replay, too`() throws {
        let reader = ReplayReader(try Transcript(parsing: Self.twoCards))
        let cancellation = TapCancellation()
        cancellation.cancel()
        #expect(throws: ReaderError.cancelled) { _ = try reader.activate(until: .distant, cancellation: cancellation) }
        #expect(throws: ReaderError.cancelled) {
            try reader.waitForRemoval(until: .distant, cancellation: cancellation)
        }
    }

    @Test func `a recording of a replay is the transcript`() throws {
        let transcript = try Transcript(parsing: Self.twoCards)
        let recorder = RecordingReader(ReplayReader(transcript))
        for command in ["00A4040000", "80A8000000", "", "", "", "00B2010C00"] {
            if command.isEmpty { recorder.release() }
            if command.isEmpty || command == "00A4040000" { _ = try activate(recorder) }
            if !command.isEmpty { _ = try? transmit(command, recorder) }
        }
        recorder.release()
        let recorded = recorder.takeTranscript(header: transcript.header)
        #expect(recorded == transcript)
        #expect(recorder.takeTranscript().steps.isEmpty)
    }

    private func activate(_ reader: any CardReader) throws(ReaderError) -> CardPresence {
        try reader.activate(until: .distant, cancellation: TapCancellation())
    }

    private func transmit(_ hex: String, _ reader: any CardReader) throws -> ResponseAPDU {
        try reader.transmit(try CommandAPDU(try Hex.bytes(hex)), until: .distant)
    }
}
