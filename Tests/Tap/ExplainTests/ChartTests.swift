// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Foundation
import FoundationXML
import ReaderCore
import TestSupport
import Testing

@testable import Explain

@Suite("Charts of taps")
struct ChartTests {
    /// A recording with times: the card takes ten milliseconds for each command and `byteTime` microseconds for each byte, the
    /// terminal two milliseconds before it.
    private func timed(_ name: String, byteTime: Int = 0) throws -> Transcript {
        var transcript = try Recordings.transcript(name)
        var now: UInt64 = 0
        let spans = transcript.steps.enumerated().map { index, step in
            if index > 0 { now += 2_000 }
            let begin = now
            if case .exchanged(let command, .response(let response)) = step {
                now += UInt64(10_000 + byteTime * (command.bytes.count + response.bytes.count))
            }
            return TranscriptTimes.Span(begin: begin, end: now)
        }
        transcript.header.append(.init(key: "times", value: TranscriptTimes(spans: spans).text))
        return transcript
    }

    private func chart(_ name: String, _ transcript: Transcript) throws -> (TapChart, String) {
        let run = try Recordings.run(name)
        let chart = try TapChart(transcript, run)
        return (chart, chart.page(Explanation(run.trace)))
    }

    @Test(arguments: Recordings.names)
    func `the page of every recording is well-formed, has every command, and no card data`(_ name: String) throws {
        let numbers = CardDataReplacement(try Recordings.transcript(name)).originals.map {
            $0.map(String.init).joined()
        }
        for transcript in [try Recordings.transcript(name), try timed(name)] {
            let (chart, page) = try chart(name, transcript)
            let seen = Elements(page)
            #expect(seen.isWellFormed, "\(name)")
            let commands = transcript.steps.count { if case .exchanged = $0 { true } else { false } }
            #expect(chart.rows.count { $0.sent != nil } == commands)
            // One heading row, and one for each step or verification.
            #expect(seen.counts["tr"] == chart.rows.count + 1)
            #expect(seen.counts["script"] == nil && seen.counts["svg"] == 1)
            #expect(!page.contains("href") && !page.contains("src="))
            for secret in numbers + ["CARDHOLDER", "CUST IMP"] { #expect(!page.contains(secret), "\(name)") }
            for case .exchanged(_, .response(let response)) in transcript.steps where response.data.count > 8 {
                #expect(!page.contains(Hex.string(response.data)))
            }
            #expect(try self.chart(name, transcript).1 == page)
        }
    }

    @Test func `phases follow the commands of EMV, and the terminal's crypto stands where it was done`() throws {
        let name = "mastercard/online-cda.tap"
        let phases = try chart(name, Recordings.transcript(name)).0.rows.map(\.phase)
        #expect(phases.first == .detection && phases.suffix(3) == [.cryptogram, .crypto, .end])
        var order: [TapChart.Phase] = []
        for phase in phases where order.last != phase { order.append(phase) }
        #expect(order == [.detection, .directory, .selection, .options, .records, .cryptogram, .crypto, .end])
    }

    @Test func `times are the card's between command and answer, and the terminal's in between`() throws {
        let name = "visa/online.tap"
        let (chart, page) = try chart(name, timed(name))
        // Three commands of 10 ms, 2 ms before each and before the release.
        #expect(chart.cardTime == 30_000)
        #expect(chart.total == 38_000)
        #expect(page.contains("3 commands in 38.0 ms: the card took 30.0 ms, the terminal 8.0 ms."))
        // A byte is nine bits of 9.44 microseconds, and each command and answer has three more.
        let bytes = chart.rows.reduce(0) { $0 + ($1.sent.map { $0 + 3 } ?? 0) + ($1.received.map { $0 + 3 } ?? 0) }
        #expect(chart.airTime == UInt64(Double(bytes) * 9 * 128 / 13.56))
        #expect(page.contains("its bytes take \(Markup.milliseconds(chart.airTime)) there at 106 kbit/s"))
        // One bar for each command, and one in the legend.
        #expect(chart.rows.compactMap(\.air).count == 3)
        #expect(chart.svg.components(separatedBy: "class=\"air\"").count == 5)
        #expect(chart.rows.filter { $0.sent != nil }.allSatisfy { $0.before == 2_000 && $0.span?.duration == 10_000 })
        #expect(!page.contains("no times"))
    }

    /// Written with `NFC_TAP_BLESS=1` and compared otherwise. 85 microseconds are a byte with its parity at 106 kbit/s.
    @Test func `the picture in the docs is the chart of a simulated Mastercard`() throws {
        let name = "mastercard/simulated-cda.tap"
        let svg = try chart(name, timed(name, byteTime: 85)).0.svg
        let file = Checkout.file("docs/pictures/tap-phases.svg")
        if Recordings.isBlessing {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try svg.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == svg)
    }

    @Test func `a recording without times says so, and shows bytes`() throws {
        let (chart, page) = try chart("visa/online.tap", Recordings.transcript("visa/online.tap"))
        #expect(!chart.hasTimes)
        #expect(page.contains("This recording has no times: bars show bytes, not time."))
        #expect(!page.contains(" ms"))
    }

    @Test(arguments: [
        "", "0", "0 1-2 3-4", "0 1-2 3-4 6-5 7", "0 1-2 1-4 5-6 7", "0 1-2-3 4-5 6-7 8", "0 a-2 3-4 5-6 7",
    ])
    func `times that do not fit the steps are refused`(_ times: String) throws {
        var transcript = try Recordings.transcript("visa/online.tap")
        transcript.header.append(.init(key: "times", value: times))
        let run = try Recordings.run("visa/online.tap")
        #expect(throws: TranscriptHeaderError.self) { try TapChart(transcript, run) }
    }

    @Test func `a recording with a clock has a time for every step, and reads back as it was`() throws {
        let original = try Recordings.transcript("visa/online.tap")
        let ticks = Ticks()
        let recorder = RecordingReader(ReplayReader(original), clock: ticks.next)
        _ = try recorder.activate(until: TapInstant(nanoseconds: 0), cancellation: TapCancellation())
        for case .exchanged(let command, _) in original.steps {
            _ = try recorder.transmit(command, until: TapInstant(nanoseconds: 0))
        }
        recorder.release()
        let made = try Transcript(parsing: recorder.takeTranscript().text)
        #expect(made.steps == original.steps)
        #expect(made["times"] == "0 1000-2000 3000-4000 5000-6000 7000")
        #expect(TranscriptTimes(made["times"] ?? "", steps: made.steps)?.text == made["times"])
    }

    @Test func `markup escapes what XML would read, and leaves out what it cannot hold`() {
        #expect(Markup.text("a<b>&\"c\u{0}\u{1B}é") == "a&lt;b&gt;&amp;&quot;c  é")
        #expect(Markup.milliseconds(49) == "0.0 ms" && Markup.milliseconds(1_250) == "1.3 ms")
        #expect(Markup.milliseconds(.max) == "18446744073709551.6 ms")
    }
}

/// A millisecond at each look.
private final class Ticks {
    private var now: UInt64 = 5_000_000_000

    func next() -> TapInstant {
        defer { now += 1_000_000 }
        return TapInstant(nanoseconds: now)
    }
}

/// How often each element of a text stands in it, by a parser that is not ours.
private final class Elements: NSObject, XMLParserDelegate {
    private(set) var counts: [String: Int] = [:]
    private(set) var isWellFormed = false

    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        isWellFormed = parser.parse()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) { counts[name, default: 0] += 1 }
}
