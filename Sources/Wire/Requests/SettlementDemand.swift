// SPDX-License-Identifier: Apache-2.0
/// Body of `POST /v1/open-items/{id}/settlement`: how a payment ended that could not be ended by proof.
public struct SettlementDemand: Equatable, Sendable {
    public var outcome: Settlement.Outcome
    /// From where that is known, for whoever asks later.
    public var note: String

    public init(_ outcome: Settlement.Outcome, note: String) {
        self.outcome = outcome
        self.note = note
    }
}

extension SettlementDemand: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case outcome = "as"
        case note
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        outcome = try members.decode(Settlement.Outcome.self, forKey: .outcome)
        note = try members.decode(String.self, forKey: .note)
        guard note.contains(where: { !$0.isWhitespace }), note.unicodeScalars.count <= Limits.noteLength,
            note.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.note) }
    }
}
