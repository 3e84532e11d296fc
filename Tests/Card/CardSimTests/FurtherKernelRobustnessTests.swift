// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import TestSupport
import Testing

@testable import CardSim

/// Whatever a card of kernels 4 to 7 does at any step, there is an outcome.
@Suite("Disturbed transactions of kernels 4 to 7")
struct FurtherKernelRobustnessTests {
    static let names = [
        "amex", "amex-phone", "jcb", "jcb-phone", "discover", "discover-phone", "unionpay", "unionpay-phone",
    ]
    private static let terminals = [TerminalConfiguration.test, .offlineCapable]

    private func check(
        _ name: String, _ configuration: TerminalConfiguration, step: Int,
        _ disturb: (ResponseAPDU) -> ResponseAPDU?
    ) throws {
        // Without CA keys the card does not sign either, which is what takes time.
        let run = try TerminalRun.tap(name, amount: 5_000, configuration, authentication: .unavailable) {
            number, answer in
            number == step ? disturb(answer) : answer
        }
        #expect(run.outcome.outcome.status != .tryAgain && run.outcome.outcome.status != .selectNext)
    }

    @Test(arguments: names)
    func `a card lost after any step leads to an outcome`(name: String) throws {
        for configuration in Self.terminals {
            let steps = try TerminalRun.tap(name, amount: 5_000, configuration).commands.count
            #expect(steps >= 3)
            for step in 2..<steps {
                let run = try TerminalRun.tap(name, amount: 5_000, configuration) { number, answer in
                    number == step ? nil : answer
                }
                // The transaction starts over with the same card, or ends where the cryptogram was under way.
                let status = run.outcome.outcome.status
                let isOver = status == .onlineRequest || status == .approved || run.outcome.wantsRestart
                #expect(isOver, "\(name) step \(step)")
            }
        }
    }

    @Test(arguments: names)
    func `an answer cut off anywhere leads to an outcome`(name: String) throws {
        var sizes: [Int: Int] = [:]
        _ = try TerminalRun.tap(name, amount: 5_000, .offlineCapable, authentication: .unavailable) { number, answer in
            sizes[number] = answer.data.count
            return answer
        }
        for (step, size) in sizes {
            for length in stride(from: size % 5, to: size, by: 5) {
                try check(name, .offlineCapable, step: step) { answer in
                    ResponseAPDU(data: Array(answer.data.prefix(length)), status: answer.status)
                }
            }
        }
    }

    @Test(arguments: names)
    func `an answer that is too long leads to an outcome`(name: String) throws {
        let steps = try TerminalRun.tap(name, amount: 5_000).commands.count
        let tails: [[UInt8]] = [
            [0x01], [0x00], [0xFF, 0xFF], [0x5F], [0x9F, 0x26], [UInt8](repeating: 0x70, count: 300),
        ]
        for step in 2..<steps {
            for tail in tails {
                try check(name, .test, step: step) { answer in
                    ResponseAPDU(data: answer.data + tail, status: answer.status)
                }
            }
        }
    }

    @Test(arguments: names)
    func `a flipped byte or a random answer leads to an outcome`(name: String) throws {
        var generator = SeededGenerator(seed: 47)
        let heads: [[UInt8]] = [[], [0x70], [0x77], [0x80], [0x77, 0x81, 0xFF], [0x80, 0x0B]]
        for configuration in Self.terminals {
            let steps = try TerminalRun.tap(name, amount: 5_000, configuration).commands.count
            for step in 2..<steps {
                for _ in 0..<8 {
                    try check(name, configuration, step: step) { answer in
                        var data = answer.data
                        let place = Int.random(in: 0..<max(1, data.count), using: &generator)
                        if !data.isEmpty { data[place] = .random(in: 0...255, using: &generator) }
                        return ResponseAPDU(data: data, status: answer.status)
                    }
                    let status: UInt16 =
                        Bool.random(using: &generator) ? 0x9000 : .random(in: 0x6000...0x6FFF, using: &generator)
                    let count = Int.random(in: 0...256, using: &generator)
                    let body =
                        (heads.randomElement(using: &generator) ?? [])
                        + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    try check(name, configuration, step: step) { _ in
                        ResponseAPDU(data: body, status: StatusWord(status))
                    }
                }
            }
        }
    }
}
