// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Envelope
import ReaderCore
import ReaderPCSC
import Rigs
import TapSession

/// One card through libpcsclite: our reader and kernel beside a bare loop that sends the same commands, in turns.
enum PCSCBenchmark {
    /// Where the cards are put.
    enum Rig {
        /// A pcscd of the test rigs in this process.
        case fake
        /// The system's pcscd with vpcd, as `with-private-pcscd.sh` starts them.
        case daemon
    }

    private static let daemonReader = "ACS ACR122U PICC Interface 00 00"

    static func run(_ rig: Rig, pairs: Int) throws {
        switch rig {
        case .fake:
            Table.section("PC/SC through libpcsclite, pcscd played in this process (\(pairs) pairs)")
            let name = "Bench PICC Interface 00 00"
            let fake = try FakePCSCD.shared()
            try fake.plug(name)
            try compare(name, pairs, calls: { fake.log.map { "\($0.command)" } }) { card in
                try? fake.remove(from: name)
                try fake.insert(card, into: name)
            }
        case .daemon:
            Table.section("PC/SC through libpcsclite, unmodified pcscd and vpcd driver (\(pairs) pairs)")
            let card = VPCDCard(port: 35_963)
            try compare(daemonReader, pairs, calls: nil) { card.insert($0) }
        }
    }

    /// - Parameter calls: what the service was asked so far, where it can tell: both sides must ask the same.
    private static func compare(
        _ reader: String, _ pairs: Int, calls: (() -> [String])?, _ insert: (any VirtualCard) throws -> Void
    ) throws {
        for (label, tap) in [("Visa", try RecordedTap.visaOnline()), ("Mastercard", try RecordedTap.mastercard())] {
            let runner = try PCSCRunner(reader: reader, tap)
            try insert(AnsweringCard(tap))
            try runner.prepare()
            if let calls { try runner.checkCalls(calls) }
            try atOnce("\(label), card that answers at once", runner, pairs)
            try insert(AnsweringCard(tap, milliseconds: 10))
            try runner.prepare()
            try asFast("\(label), card that takes 10 ms for a command", runner, max(10, pairs / 10))
            runner.close()
        }
    }

    /// Nothing of the time is the card's: the worst case for whatever stands beside the bare loop.
    private static func atOnce(_ label: String, _ runner: PCSCRunner, _ pairs: Int) throws {
        let layer = try runner.compare(pairs) { try runner.replay() }
        let conversation = try runner.compare(pairs) { try runner.converse() }
        let whole = try runner.compare(pairs) { try runner.tap() }
        Table.yardstick("bare loop, \(label)", p50: layer.bare, p99: layer.bareP99)
        Table.row("  our reader with the same commands", layer, target: 1.05)
        Table.row("  our reader and kernel, signatures verified", conversation)
        Table.row("  the whole tap, sealed", whole)
    }

    /// No real card is known to be faster (peers give 10 to 40 ms for a command).
    private static func asFast(_ label: String, _ runner: PCSCRunner, _ pairs: Int) throws {
        let conversation = try runner.compare(pairs) { try runner.converse() }
        let whole = try runner.compare(pairs) { try runner.tap() }
        Table.yardstick("bare loop, \(label)", p50: conversation.bare, p99: conversation.bareP99)
        Table.row("  our reader and kernel, signatures verified", conversation, target: 1.05)
        Table.row("  the whole tap, sealed", whole, target: 1.05)
    }
}
