// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// GET PROCESSING OPTIONS and the records (EMV Book 3 §10.1 and §10.2).
enum ReadingStory {
    static func sentences(_ facts: TapFacts) -> [String] {
        guard let options = facts.exchange(where: \.isProcessingOptions) else { return [] }
        var sentences = [request(facts)]
        if let ttq = facts.sent(.ttq), facts.kernel != .mastercard {
            let bits = BitTable.ttq.meanings(ttq).map(\.text).joined(separator: "; ")
            sentences.append("TTQ \(Hex.string(ttq)): \(bits).")
        }
        guard let response = options.response else { return sentences + ["The card left before it answered."] }
        guard response.status.isSuccess else {
            return sentences + ["The card refused: \(response.status) \(CodeNames.statusWord(response.status))."]
        }
        if let profile = facts.card(.aip) {
            let bits = BitTable.interchangeProfile(facts.kernel).meanings(profile).map(\.text)
            sentences.append(
                "AIP \(Hex.string(profile)): \(bits.isEmpty ? "nothing set" : bits.joined(separator: "; ")).")
        }
        return sentences + records(facts)
    }

    private static func request(_ facts: TapFacts) -> String {
        guard let list = facts.card(.pdol), let entries = try? DOL(list).entries else {
            return "The card has no PDOL: it is told nothing of the transaction before it answers."
        }
        let names = entries.map { entry in
            let name = DataDictionary.element(entry.tag, kernel: facts.kernel)?.name
            return name.map { "\(entry.tag) \($0)" } ?? entry.tag.description
        }
        return "The card asks (PDOL) for \(names.joined(separator: ", "))."
    }

    private static func records(_ facts: TapFacts) -> [String] {
        guard let value = facts.card(.afl) else {
            return ["It names no files (no AFL): everything is in this answer, no record is read."]
        }
        guard let locator = ApplicationFileLocator(value) else { return ["Its AFL \(Hex.string(value)) is not valid."] }
        var sentences = ["AFL: \(locator.entries.map { FileMeaning.phrase($0) }.joined(separator: "; "))."]
        let read = facts.exchanges.filter(\.command.isRecordCommand)
        let good = read.count { $0.response?.status.isSuccess == true }
        sentences.append(
            good == read.count
                ? "\(good == 1 ? "1 record was" : "\(good) records were") read."
                : "\(good) of \(read.count) records were read.")
        return sentences
    }
}
