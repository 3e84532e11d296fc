// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Testing

/// One transaction driven from start to end with the public API alone, as `drive` does it.
struct Tap {
    var outcome: Outcome
    var application: SelectedApplication?
    var commands: [[UInt8]]
    /// Data bytes of every answer.
    var sizes: [Int]

    /// What happens to the answer of one step; everything else comes through as the card gave it.
    enum Disturbance {
        case cardLost
        case truncated(Int)
        case appended([UInt8])
        case replaced([UInt8], StatusWord)
        /// Exclusive-or at a place, counted modulo the answer's length.
        case flipped(Int, UInt8)

        func apply(_ answer: ResponseAPDU) -> ResponseAPDU? {
            var data = answer.data
            switch self {
            case .cardLost: return nil
            case .truncated(let count): return ResponseAPDU(data: Array(data.prefix(count)), status: answer.status)
            case .appended(let tail): return ResponseAPDU(data: data + tail, status: answer.status)
            case .replaced(let bytes, let status): return ResponseAPDU(data: bytes, status: status)
            case .flipped(let place, let mask):
                guard !data.isEmpty else { return answer }
                data[place % data.count] ^= mask
                return ResponseAPDU(data: data, status: answer.status)
            }
        }
    }

    /// Runs `entryPoint`, again where an outcome wants a restart, up to eight presentations in all.
    ///
    /// - Parameter card: answers a command, `nil` where it leaves the field; asked with `nil` when it is powered on.
    static func run(
        _ entryPoint: inout EntryPoint, disturb: (step: Int, Disturbance)? = nil,
        card: (CommandAPDU?) throws -> ResponseAPDU?
    ) throws -> Tap {
        var tap = Tap(outcome: Outcome(.endApplication), application: nil, commands: [], sizes: [])
        var presentations = 0
        let now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<400 {
            switch step.action {
            case .finished(let final):
                tap.outcome = final.outcome
                tap.application = final.application
                guard final.outcome.status == .endApplication, final.wantsRestart, presentations < 8 else { return tap }
                step = entryPoint.start(now: now)
            case .activate:
                presentations += 1
                guard presentations <= 8 else {
                    tap.outcome = entryPoint.stop(now: now).outcome
                    return tap
                }
                _ = try card(nil)
                step = entryPoint.activated(CardActivation(), now: now)
            case .transmit(let command):
                tap.commands.append(command.bytes)
                var answer = try card(command)
                tap.sizes.append(answer?.data.count ?? 0)
                if let disturb, disturb.step == tap.commands.count - 1 { answer = answer.flatMap(disturb.1.apply) }
                if let answer {
                    step = entryPoint.received(answer, now: now)
                } else {
                    step = entryPoint.cardLost(now: now)
                }
            }
        }
        throw Endless()
    }

    struct Endless: Error {}

    var isFinal: Bool { outcome.status != .selectNext && outcome.status != .tryAgain }
    var commandTexts: [String] { commands.map { Hex.string($0) } }

    func value(_ tag: CardBytes.Tag) -> String? { outcome.dataRecord?.value(of: tag).map { Hex.string($0) } }

    /// A card of the catalogue, made afresh, as `run` asks for it.
    static func catalogueCard(_ name: String) throws -> (CommandAPDU?) throws -> ResponseAPDU? {
        var card = try #require(CardCatalogue.card(named: name))
        return { command in
            guard let command else {
                card.powerOn()
                return nil
            }
            switch card.answer(command.bytes) {
            case .answer(let bytes), .late(let bytes, _): return try ResponseAPDU(bytes)
            case .gone: return nil
            }
        }
    }
}
