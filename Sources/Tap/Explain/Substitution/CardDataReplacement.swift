// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import ReaderCore

/// Replaces the card's data step by step.
struct CardDataReplacement {
    /// The numbers found in the original, digits.
    let originals: [[UInt8]]
    private var aid: [UInt8] = []
    private var step = 0
    private(set) var replacedTags: [Tag] = []
    private(set) var zeroedTags: [Tag] = []
    /// From 1.
    private(set) var blankedSteps: [Int] = []
    private var hasUID = false

    /// Whatever its length, this is no data object: a tag that goes on for ever. A replay stops where the tap did.
    private static let blank: UInt8 = 0x9F

    init(_ transcript: Transcript) {
        originals = CardDataReplacement.numbers(
            in: transcript.steps.compactMap { step in
                if case .exchanged(_, .response(let response)) = step { response } else { nil }
            })
    }

    /// The card numbers in what a card answered, digits, each once.
    static func numbers(in responses: [ResponseAPDU]) -> [[UInt8]] {
        var numbers: [[UInt8]] = []
        for response in responses {
            guard let nodes = try? TLV.nodes(response.data) else { continue }
            for node in nodes {
                guard let pan = CardDataReplacement.pan(node.tag, Array(response.data[node.value])) else { continue }
                if !numbers.contains(pan) { numbers.append(pan) }
            }
        }
        return numbers
    }

    /// The card number in one of the objects that hold it.
    private static func pan(_ tag: Tag, _ value: [UInt8]) -> [UInt8]? {
        switch tag.rawValue {
        case 0x5A: return BCD.digits(value).flatMap { $0.count >= 8 ? $0 : nil }
        case 0x57, 0x9F6B: return Track2Equivalent(value)?.pan
        case 0x56:
            let digits = value.dropFirst().prefix { (0x30...0x39).contains($0) }
            return digits.count >= 8 ? digits.map { $0 - 0x30 } : nil
        case _: return nil
        }
    }

    /// Header lines that say what was done.
    var notes: [Transcript.Field] {
        func list(_ tags: [Tag]) -> String { tags.map(\.description).joined(separator: " ") }
        var notes: [Transcript.Field] = []
        let replaced =
            (replacedTags.isEmpty ? [] : ["test values for \(list(replacedTags))"])
            + (hasUID ? ["UID of the card"] : [])
        if !replaced.isEmpty {
            notes.append(Transcript.Field(key: "replaced", value: replaced.joined(separator: "; ")))
        }
        if !blankedSteps.isEmpty {
            let steps = blankedSteps.map { String($0) }.joined(separator: " ")
            notes.append(
                Transcript.Field(
                    key: "blanked",
                    value: "bytes 9F for the whole answer in step \(steps): what cannot be read cannot be replaced"))
        }
        if !zeroedTags.isEmpty {
            notes.append(
                Transcript.Field(
                    key: "unreplaced",
                    value:
                        "zero bytes for \(list(zeroedTags)): cryptograms, signatures and certificates cannot be made "
                        + "again without the issuer's keys"))
        }
        return notes
    }

    // MARK: Steps

    mutating func replace(_ step: Transcript.Step) -> Transcript.Step {
        self.step += 1
        switch step {
        case .activated(var card):
            if !card.uid.isEmpty { hasUID = true }
            card.uid = card.uid.indices.map { UInt8(truncatingIfNeeded: $0 == 0 ? 0x08 : $0) }
            return .activated(card)
        case .collided, .emptied, .released: return step
        case .exchanged(let command, let answer):
            if command.isSelection, !command.isDirectorySelection { aid = command.data }
            guard case .response(let response) = answer else { return step }
            let data = data(response.data, of: command)
            return .exchanged(replacing(command), .response(ResponseAPDU(data: data, status: response.status)))
        }
    }

    /// Commands repeat what the card said only in data object lists, in the form in which it was said.
    private func replacing(_ command: CommandAPDU) -> CommandAPDU {
        var data = command.data
        for pan in originals {
            let packed = BCD.pack(pan, count: (pan.count + 1) / 2) ?? []
            let test = BCD.pack(testNumber(pan), count: (pan.count + 1) / 2) ?? []
            guard !packed.isEmpty, data.count >= packed.count else { continue }
            for start in 0...(data.count - packed.count) where Array(data[start..<start + packed.count]) == packed {
                data.replaceSubrange(start..<start + packed.count, with: test)
            }
        }
        let made = try? CommandAPDU(
            cla: command.cla, ins: command.ins, p1: command.p1, p2: command.p2, data: data, le: command.le)
        return made ?? command
    }

    private mutating func data(_ data: [UInt8], of command: CommandAPDU) -> [UInt8] {
        guard !data.isEmpty else { return data }
        guard let nodes = try? TLV.nodes(data) else { return blank(data) }
        var result = data
        for node in nodes where !node.tag.isConstructed && !node.value.isEmpty {
            let value = Array(data[node.value])
            let new = node.tag == 0x80 ? formatOne(value, command) : replacement(node.tag, value)
            result.replaceSubrange(node.value, with: new)
        }
        return holdsNumber(result) ? blank(result) : result
    }

    private mutating func blank(_ data: [UInt8]) -> [UInt8] {
        blankedSteps.append(step)
        return [UInt8](repeating: CardDataReplacement.blank, count: data.count)
    }

    /// A public test number may stand for itself.
    private func holdsNumber(_ data: [UInt8]) -> Bool {
        let text = Hex.string(data)
        return originals.contains { pan in
            !TestAccount.publicNumbers.contains(pan) && TestAccount.traces(of: pan).contains { text.contains($0) }
        }
    }

    /// Format 1 of GENERATE AC has the cryptogram in bytes 4 to 11; of GET PROCESSING OPTIONS nothing of the holder's.
    private mutating func formatOne(_ value: [UInt8], _ command: CommandAPDU) -> [UInt8] {
        if command.isProcessingOptions { return value }
        guard command.isCryptogramCommand, value.count >= 11 else {
            note(0x80, in: \.zeroedTags)
            return [UInt8](repeating: 0, count: value.count)
        }
        note(0x9F26, in: \.zeroedTags)
        return Array(value[0..<3]) + [UInt8](repeating: 0, count: 8) + value[11...]
    }

    private mutating func note(_ tag: Tag, in list: WritableKeyPath<CardDataReplacement, [Tag]>) {
        if !self[keyPath: list].contains(tag) { self[keyPath: list].append(tag) }
    }

    // MARK: Values

    /// A value of the same length.
    private mutating func replacement(_ tag: Tag, _ value: [UInt8]) -> [UInt8] {
        if let test = testValue(tag, value) {
            note(tag, in: \.replacedTags)
            return test
        }
        guard CardDataReplacement.isZeroed(tag, value.count) else { return value }
        note(tag, in: \.zeroedTags)
        return [UInt8](repeating: 0, count: value.count)
    }

    private func testValue(_ tag: Tag, _ value: [UInt8]) -> [UInt8]? {
        switch tag.rawValue {
        case 0x5A:
            guard let digits = BCD.digits(value) else { return [UInt8](repeating: 0, count: value.count) }
            return BCD.pack(testNumber(digits), count: value.count)
        case 0x57, 0x9F6B: return track2(value)
        case 0x56: return track1(value)
        case 0x5F20, 0x9F0B: return CardDataReplacement.text("TEST/CARDHOLDER", value.count)
        case 0x9F24: return CardDataReplacement.text("TESTPAR0000000000000000000000", value.count)
        case 0x9F1F: return [UInt8](repeating: 0x30, count: value.count)
        case 0x9F25:
            return BCD.pack(Array(testNumber(originals.first ?? []).suffix(4)), count: value.count)
        case 0x42, 0x9F0C:
            return BCD.pack(
                Array(testNumber(originals.first ?? []).prefix(value.count * 2)), count: value.count
            )
        case _: return nil
        }
    }

    /// The same test number for the same number.
    private func testNumber(_ pan: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(pan)
        return TestAccount(for: digits, aid: aid, ordinal: originals.firstIndex(of: digits) ?? 0).pan
    }

    /// Expiry and service code stay, because decisions depend on them; the rest becomes zeros.
    private func track2(_ value: [UInt8]) -> [UInt8] {
        guard let track = Track2Equivalent(value) else { return [UInt8](repeating: 0, count: value.count) }
        var nibbles = testNumber(track.pan) + [0x0D] + track.expiry + (track.serviceCode ?? [])
        nibbles += [UInt8](repeating: 0, count: max(0, value.count * 2 - nibbles.count))
        if let last = value.last, last & 0x0F == 0x0F { nibbles[value.count * 2 - 1] = 0x0F }
        return (0..<value.count).map { nibbles[$0 * 2] << 4 | nibbles[$0 * 2 + 1] }
    }

    /// `B` PAN `^` name `^` expiry, service code and discretionary data.
    private func track1(_ value: [UInt8]) -> [UInt8] {
        let parts = value.split(separator: 0x5E, omittingEmptySubsequences: false)
        guard parts.count == 3, let code = parts[0].first else { return [UInt8](repeating: 0x30, count: value.count) }
        let digits = parts[0].dropFirst().map { $0 &- 0x30 }
        let number = testNumber(digits).map { $0 + 0x30 }
        let tail = parts[2].prefix(7) + [UInt8](repeating: 0x30, count: max(0, parts[2].count - 7))
        return [code] + number + [0x5E] + CardDataReplacement.text("TEST/CARDHOLDER", parts[1].count) + [0x5E] + tail
    }

    private static func text(_ text: String, _ count: Int) -> [UInt8] {
        Array((Array(text.utf8) + [UInt8](repeating: 0x20, count: count)).prefix(count))
    }

    /// Whatever names account or holder and has no test value, and what hangs on the issuer's keys besides.
    private static func isZeroed(_ tag: Tag, _ count: Int) -> Bool {
        switch AccountData.kind(tag, count: count) {
        case .expiry: false
        case nil: remade.contains(tag)
        case _: true
        }
    }

    /// Of one tap, or of whoever made the card: they name no account, and are right for no other either.
    private static let remade: Set<Tag> = [0x9F26, 0x9F60, 0x9F19, 0x9F8105]
}
