// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardSim
import Envelope
import Foundation
import PSPAPI
import PaymentValues

/// Many tills as clients of a payment service: each with a card of its own, envelopes sealed to what `GET /v1/keys` names.
@main
struct RigTills: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rig-tills", abstract: "Play the tills of many shops, for tests.",
        subcommands: [Pay.self, Cards.self], defaultSubcommand: Pay.self)
}

/// The numbers of the cards, for those who search for them.
struct Cards: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the numbers of the tills' test cards and their tracks.")

    @Option var tills = 10

    func run() {
        for number in 0..<tills {
            let card = CardPersonalisation.visa(account: UInt32(number))
            print(card.pan.map(String.init).joined())
            print(card.track2.map { String(format: "%02X", $0) }.joined().replacingOccurrences(of: "F", with: ""))
        }
    }
}

struct Pay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Tap, pay, and write down what each till believes.")

    @Option(help: "Adapter socket of a shop; once for each shop.") var socket: [String]
    @Option var tills = 10
    @Option(help: "Of all tills together.") var taps = 100
    @Option var seed: UInt64 = 1
    @Option(help: "No tap begins after so many seconds.") var seconds = 600.0
    @Option(help: "Milliseconds between two taps of a till.") var pause = 0
    @Flag(help: "Amounts that make the acquirer's host fail.") var faults = false
    @Flag(help: "Sales and nothing else.") var plain = false
    @Option(help: "A line of JSON for each tap.") var beliefs: String

    func run() async throws {
        guard !socket.isEmpty, tills > 0, FileManager.default.createFile(atPath: beliefs, contents: nil),
            let file = FileHandle(forWritingAtPath: beliefs)
        else { throw ValidationError("Name the sockets of the shops, and a file that can be written.") }
        let begin = ContinuousClock.now
        guard let keys = try? await TestTill(socket[0]).keys().keys, let recipient = keys.first else {
            throw ValidationError("No keys at \(socket[0]).")
        }
        let desk = Desk(file)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<tills {
                let shop = number % socket.count
                var till = TestTill(socket[shop])
                till.recipient = recipient
                till.terminal.merchant = "shop-\(shop + 1)"
                till.terminal.id = String(format: "%08d", number)
                let day = ShopDay(
                    till: till, number: number, taps: taps / tills + (number < taps % tills ? 1 : 0), seed: seed,
                    hasFaults: faults, isPlain: plain, pause: .milliseconds(pause),
                    end: begin.advanced(by: .seconds(seconds)))
                group.addTask { try await day.run { try await desk.take($0) } }
            }
            try await group.waitForAll()
        }
        await desk.say((ContinuousClock.now - begin) / .seconds(1))
    }
}

/// Takes what tills believe.
private actor Desk {
    private let file: FileHandle
    private var times: [Double] = []
    private var counts: [String: Int] = [:]

    init(_ file: FileHandle) { self.file = file }

    func take(_ belief: TapBelief) throws {
        try file.write(contentsOf: JSONEncoder().encode(belief) + Data("\n".utf8))
        counts[belief.belief, default: 0] += 1
        if belief.milliseconds > 0 { times.append(belief.milliseconds) }
    }

    /// One line of JSON.
    func say(_ seconds: Double) {
        times.sort()
        func part(_ share: Double) -> Double {
            times.isEmpty ? 0 : times[min(times.count - 1, Int(Double(times.count) * share))]
        }
        let counted = counts.sorted { $0.key < $1.key }.map { ",\"\($0.key)\":\($0.value)" }.joined()
        print(
            String(
                format: "{\"taps\":%d,\"seconds\":%.2f,\"p50\":%.1f,\"p99\":%.1f%@}", counts.values.reduce(0, +),
                seconds,
                part(0.5), part(0.99), counted))
    }
}
