// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Loyalty
import PaymentValues

/// What a read without the daemon found: for a person, and `--json`. Shows passes.
struct LoyaltyReport: Encodable {
    struct Entry: Encodable {
        let id: String
        let displayName: String
        let status: String
        let member: String?
        /// Hexadecimal.
        let cryptogram: String?
    }

    let wallet: String?
    let customerAction: String
    let customerText: String?
    let programmes: [Entry]
    private let language: Language

    private enum CodingKeys: CodingKey { case wallet, customerAction, customerText, programmes }

    init(_ outcome: LoyaltyOutcome, _ request: LoyaltyRequest, in language: Language) {
        self.language = language
        wallet = outcome.wallet?.rawValue
        customerAction = outcome.customerAction.rawValue
        customerText = LoyaltyResult.CustomerAction(rawValue: customerAction)?.text(in: language.rawValue)
        programmes = outcome.entries.map { entry in
            Entry(
                id: entry.programme,
                displayName: request.programmes.first { $0.id == entry.programme }?.displayName ?? entry.programme,
                status: entry.status.word, member: entry.pass?.member.map(LoyaltyReport.text),
                cryptogram: entry.pass?.cryptogram.map { Hex.string($0.bytes) })
        }
    }

    var text: String {
        var lines = [language.text(programmes.contains { $0.status == "delivered" } ? .passRead : .noPass)]
        lines += programmes.map { entry in
            "  \(entry.displayName)  \(entry.status)" + (entry.member.map { "  \($0)" } ?? "")
        }
        if let customerText { lines.append(language.line(.customer, customerText)) }
        return lines.joined(separator: "\n")
    }

    private static func text(_ secret: SecretBytes) -> String {
        secret.withSpan { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}

extension PassStatus {
    /// The word that the daemon's answers have for it.
    fileprivate var word: String {
        switch self {
        case .delivered: "delivered"
        case .signUpSent: "signUpSent"
        case .noPass: "noPass"
        case .locked: "locked"
        case .choiceNeeded: "choiceNeeded"
        case .unsupportedVersion: "unsupportedVersion"
        case .refused(let status): "refused (\(Hex.string(status.bytes)))"
        case .authenticationFailed(let status): "authenticationFailed (\(Hex.string(status.bytes)))"
        case .transientFailure(let status): "transientFailure (\(Hex.string(status.bytes)))"
        case .busy: "busy"
        case .unreadable: "unreadable"
        case .tooOld: "tooOld"
        case .clockOff: "clockOff"
        case .repeated: "repeated"
        case .unsuitable: "unsuitable"
        case .keyMissing: "keyMissing"
        case .unexpectedStatus(let status): "unexpectedStatus (\(Hex.string(status.bytes)))"
        case .cardLost: "cardLost"
        case .notAsked: "notAsked"
        }
    }
}
