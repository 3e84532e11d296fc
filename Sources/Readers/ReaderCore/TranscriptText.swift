// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Transcript {
    /// The `.tap` form. Parsing it gives an equal transcript. Line breaks in header fields become blanks.
    public var text: String {
        var lines = header.map { "\(oneLine($0.key)): \(oneLine($0.value))" }
        if !header.isEmpty, !steps.isEmpty { lines.append("") }
        for step in steps {
            switch step {
            case .activated(let card): lines.append(line(card))
            case .collided: lines.append("+ collision")
            case .emptied: lines.append("+ empty")
            case .released: lines.append("-")
            case .exchanged(let command, let answer):
                lines.append("> \(Hex.string(command.bytes))")
                lines.append(line(answer))
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }

    private func line(_ card: CardActivation) -> String {
        var words = ["+", "technology=\(card.technology.rawValue)"]
        if !card.uid.isEmpty { words.append("uid=\(Hex.string(card.uid))") }
        if !card.answerToSelect.isEmpty { words.append("ats=\(Hex.string(card.answerToSelect))") }
        if !card.atr.isEmpty { words.append("atr=\(Hex.string(card.atr))") }
        if let sak = card.sak { words.append("sak=\(Hex.string([sak]))") }
        return words.joined(separator: " ")
    }

    private func line(_ answer: Answer) -> String {
        switch answer {
        case .response(let response): "< \(Hex.string(response.bytes))"
        case .cardLost: "! cardLost"
        case .timedOut: "! timedOut"
        case .detached: "! detached"
        }
    }
}
