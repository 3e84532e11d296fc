// SPDX-License-Identifier: Apache-2.0
import Linux
import POSAPI
import PaymentValues

/// How far the preparation of a lane is, on standard error: a bar where a percentage is known, words where not.
actor PreparationProgress {
    private let isTerminal: Bool
    private var lane: String?
    private var hasBar = false

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    func follow(_ lane: String) { self.lane = lane }

    func take(_ event: Event) {
        guard event.name == .prepareProgress, let lane, event.lane == lane else { return }
        let text = PreparationProgress.line(lane, event.percent, event.step)
        guard isTerminal else { return StandardError.write("nfc-tap: \(text)\n") }
        StandardError.write(coloured: "\r\u{1B}[K\(text.shown)")
        hasBar = true
    }

    /// The line of the bar is not left half written.
    func end() {
        if hasBar { StandardError.write(coloured: "\r\u{1B}[K") }
        hasBar = false
        lane = nil
    }

    /// `till-1: [#####               ]  25 %  adapter`
    static func line(_ lane: String, _ percent: Int?, _ step: PrepareStep?) -> String {
        let next = step.map { "  \($0.rawValue)" } ?? ""
        guard let percent else { return "\(lane): \(Language.spoken.text(.progress(.preparing)))\(next)" }
        let done = max(0, min(100, percent)) / 5
        let bar = String(repeating: "#", count: done) + String(repeating: " ", count: 20 - done)
        let number = String(repeating: " ", count: max(0, 3 - "\(percent)".count)) + "\(percent)"
        return "\(lane): [\(bar)] \(number) %\(next)"
    }
}
