// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

/// A language of the people at a till: those of the till in the browser, whose message files are built in.
public enum TillLanguage: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"
    case french = "fr"
    case spanish = "es"
    case italian = "it"
    case dutch = "nl"
    case polish = "pl"
    case portuguese = "pt"
    case swedish = "sv"
    case turkish = "tr"
    case arabic = "ar"
    case japanese = "ja"

    /// The language of the daemon's own texts; `nil` where it has none of this one, and the message files speak.
    var ownAtDaemon: Language? { Language(rawValue: rawValue) }

    /// What the daemon is asked for on paper: it writes receipts in its own languages only.
    var onReceipts: Language { ownAtDaemon ?? .english }

    /// What its letters can be written in: code page 437 of ZVT has neither Arabic nor Japanese ones.
    var hasCodePage437: Bool { self != .arabic && self != .japanese }

    /// Between whole units and the rest of an amount on paper.
    var decimalSeparator: String {
        switch self {
        case .english, .japanese, .arabic: "."
        default: ownAtDaemon?.text(.decimalSeparator) ?? ","
        }
    }

    /// The text of a key of `share/till/messages`; English for what is missing, and the key where that has none either.
    func text(_ key: String) -> String { messages[key] ?? TillLanguage.messagesInEnglish[key] ?? key }

    var messages: [String: String] {
        switch self {
        case .english: TillLanguage.messagesInEnglish
        case .german: TillLanguage.read(PackageResources.de_json)
        case .french: TillLanguage.read(PackageResources.fr_json)
        case .spanish: TillLanguage.read(PackageResources.es_json)
        case .italian: TillLanguage.read(PackageResources.it_json)
        case .dutch: TillLanguage.read(PackageResources.nl_json)
        case .polish: TillLanguage.read(PackageResources.pl_json)
        case .portuguese: TillLanguage.read(PackageResources.pt_json)
        case .swedish: TillLanguage.read(PackageResources.sv_json)
        case .turkish: TillLanguage.read(PackageResources.tr_json)
        case .arabic: TillLanguage.read(PackageResources.ar_json)
        case .japanese: TillLanguage.read(PackageResources.ja_json)
        }
    }

    private static let messagesInEnglish = read(PackageResources.en_json)

    /// A file that cannot be read has no texts, so that the bridge goes on; a test reads every one.
    private static func read(_ json: [UInt8]) -> [String: String] {
        (try? WireJSON.decode([String: String].self, from: json)) ?? [:]
    }
}

// MARK: - What the bridge says

extension TillLanguage {
    func text(_ reason: DeclineReason) -> String {
        ownAtDaemon.map { reason.text(in: $0) } ?? text("reason.\(reason.rawValue)")
    }

    /// What a start, or what became of it, is refused for: in the daemon's words where it has this language.
    func text(_ error: ErrorDetail?) -> String? {
        let code = error.flatMap { ErrorCode(rawValue: $0.code) }
        if let own = ownAtDaemon { return code?.texts(in: own).message ?? error?.message }
        return error.map { text(TillLanguage.key(of: code, $0.code)) }
    }

    private static func key(of code: ErrorCode?, _ name: String) -> String {
        switch code {
        case .orderPaid: "till.paidBefore"
        case .orderUnresolved: "till.blocked"
        case .readOtherInterface: "chip"
        case .readCardUnsupported: "other"
        case .pspNoAnswer: "reason.hostTimeout"
        default: name.hasPrefix("read.") ? "failed" : "till.refused"
        }
    }

    /// A line for the customer, at an event; `nil` where there is nothing to say.
    func text(_ event: Event) -> String? {
        if let own = ownAtDaemon { return event.customerText ?? event.name.customerText(in: own.rawValue) }
        return TillLanguage.key(of: event).map(text)
    }

    private static func key(of event: Event) -> String? {
        switch event.name {
        case .readReadyForTap: "hold"
        case .readRetry:
            switch event.message {
            case .seePhone: "phone"
            case .presentOneCardOnly: "one"
            case .insertCard, .insertOrSwipe, .insertSwipeOrTryAnotherCard: "chip"
            default: "again"
            }
        case .readRemoveCard: "read"
        case .readCancelled: "cancelled"
        case .paymentAuthorizing: "wait"
        case .pinRequested: "pin"
        case .paymentDeclined: "declined"
        case .paymentUnknown: "unknown"
        case .paymentReversed: "reversing"
        default: nil
        }
    }

    /// Of the bridge's own lines on paper.
    var receiptNumber: String { ownAtDaemon?.text(.receipt(.receiptNumber)) ?? text("till.receipt") }
    var endOfDay: String { ownAtDaemon?.text(.report(.endOfDay)) ?? text("day.end") }
    var total: String { ownAtDaemon?.text(.receipt(.total)) ?? text("day.net") }
}
