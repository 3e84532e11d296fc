// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Foundation
import ReaderCore
import Testing

@testable import Explain

/// Every transcript gives the same replay and the same explanation each time. `NFC_TAP_BLESS=1` writes what they give
/// now; look at the difference before keeping it.
@Suite("Transcripts", .serialized)
struct GoldenTests {
    @Test(arguments: Recordings.names)
    func `a transcript replays as recorded, with the text kept beside it`(_ name: String) throws {
        let run = try Recordings.run(name)
        let text =
            ReplayReport(run).lines.joined(separator: "\n") + "\n\n"
            + Explanation(run.trace).lines.joined(separator: "\n") + "\n"
        let file = Recordings.root.appending(path: String(name.dropLast(3)) + "chk")
        if Recordings.isBlessing { try text.write(to: file, atomically: true, encoding: .utf8) }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
        #expect(run.isAsRecorded)
        #expect(run.unusedSteps == 0)
    }

    @Test func `there are transcripts of several schemes, each with its source and licence`() throws {
        #expect(Recordings.names.count >= 8)
        for name in Recordings.names {
            let transcript = try Recordings.transcript(name)
            #expect(transcript["source"]?.isEmpty == false, "\(name)")
            #expect(transcript["licence"]?.isEmpty == false, "\(name)")
        }
    }

    @Test func `neither replay nor explanation shows a card number, track or name`() throws {
        for name in Recordings.names {
            let run = try Recordings.run(name)
            let report = ReplayReport(run)
            let responses = report.lines.filter { !$0.hasPrefix(">") } + Explanation(run.trace).lines
            let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
            let numbers = CardDataReplacement(try Recordings.transcript(name)).originals
            let secrets = numbers.map { $0.map(String.init).joined() } + ["CARDHOLDER", "CUST IMP"]
            #expect(!numbers.isEmpty || name == "selection/no-ppse.tap")
            for secret in secrets {
                #expect(responses.allSatisfy { !$0.contains(secret) }, "\(name)")
                #expect(!json.contains(secret), "\(name)")
            }
        }
    }

    /// The cards of the simulator as transcripts, written with `NFC_TAP_BLESS=1` and compared otherwise.
    @Test(arguments: SimulatedTap.all)
    func `a simulated card gives the transcript that is kept`(_ tap: SimulatedTap) throws {
        let file = Recordings.root.appending(path: tap.file)
        let text = try tap.record().text
        if Recordings.isBlessing {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
}
