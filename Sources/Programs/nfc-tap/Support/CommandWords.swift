// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// The catalogue speaks to programs on the socket. Whoever types commands gets the command or the option instead.
enum CommandWords {
    /// What the texts say, and the command or the option that does it; longer ones first.
    static let commands = [
        ("GET /v1/transactions", "nfc-tap list"), ("GET /v1/days", "nfc-tap end-of-day list"),
        ("GET /v1/totals", "nfc-tap totals"), ("GET /v1/queue", "nfc-tap queue"),
        ("GET /v1/lanes", "nfc-tap status"), ("GET /v1/help", "nfc-tap help-topics"),
        ("allowRepeat: true", "--allow-repeat"), ("confirmWithin", "--confirm-within"), ("force", "--force"),
    ]

    static func replaced(in text: String) -> String {
        commands.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    /// What a member of a request is called here, and what it takes.
    struct Expectation {
        /// Options that fill the member; empty for an argument.
        let options: [String]
        let takes: String
    }

    /// By the member's name, or its path's first name.
    static func expectation(ofField field: String) -> Expectation? {
        let name = field.prefix { $0 != "." && $0 != "[" }
        return expectations[field] ?? expectations[String(name)]
    }

    private static let expectations: [String: Expectation] = [
        "order": Expectation(
            options: ["--order"],
            takes:
                "1 to \(Limits.orderLength) letters, digits, signs and blanks of ASCII, no blank at either end and no card number"
        ),
        "lane": Expectation(options: ["--lane"], takes: "the name of a lane, as nfc-tap status shows it"),
        "deadline": Expectation(options: ["--deadline"], takes: "\(Limits.deadlineSeconds.words) seconds"),
        "language": Expectation(
            options: ["--language"], takes: "a tag such as de or en-GB, at most \(Limits.languageLength) letters"),
        "preferredApplications": Expectation(
            options: ["--prefer"],
            takes:
                "up to \(Limits.preferredApplications) AIDs or RIDs of \(Limits.applicationIdentifierLength.words) bytes in hexadecimal, none twice"
        ),
        "confirmWithin": Expectation(options: ["--confirm-within"], takes: "\(Limits.confirmSeconds.words) seconds"),
        "confirmRepeatWithin": Expectation(
            options: ["--confirm-repeat-within"], takes: "\(Limits.confirmSeconds.words) seconds"),
        "loyalty": Expectation(
            options: ["--loyalty", "--programme"],
            takes:
                "up to \(Limits.programmes) programmes of the configuration, by their ids of at most \(Limits.programmeLength) letters"
        ),
        "expires": Expectation(options: ["--expires"], takes: "the seconds that --help names"),
        "to": Expectation(
            options: [], takes: "1 to \(Limits.terminalNameLength) letters, digits and signs without blanks"),
        "reason": Expectation(
            options: ["--reason"], takes: "1 to \(Limits.orderLength) letters, digits and signs"),
        "consent": Expectation(
            options: ["--consent"], takes: "how the customer was told, in words and without a card number"),
        "agreement": Expectation(
            options: ["--text", "--agreement"],
            takes: "what the customer agrees to, in at most \(Limits.agreementLength) letters, without a card number"),
        "reference": Expectation(
            options: ["--reference"], takes: "1 to \(Limits.orderLength) letters, digits and signs without blanks"),
        "seconds": Expectation(options: [], takes: "a whole number from 1 on"),
        "note": Expectation(
            options: ["--note"], takes: "1 to \(Limits.noteLength) letters on one line, without a card number"),
        "evidence": Expectation(
            options: ["--evidence"], takes: "1 to \(Limits.noteLength) letters on one line, without a card number"),
        "label": Expectation(
            options: ["--label"], takes: "1 to \(Limits.dayLabelLength) letters, digits and signs without blanks"),
        "amount": Expectation(options: [], takes: "a sum above zero of at most twelve digits in minor units"),
        "tip": Expectation(options: ["--tip"], takes: "a part of the amount, in its currency"),
        "of": Expectation(options: ["--of"], takes: "the id or the number of a payment"),
        "retryOf": Expectation(
            options: ["--retry-of"], takes: "the id or the number of a sale that ended without money"),
        "currency": Expectation(options: ["--currency"], takes: "three letters of ISO 4217, such as EUR"),
        "cashier": Expectation(options: ["--cashier"], takes: "the name of a cashier without blanks"),
        "token": Expectation(options: ["--token"], takes: "1 to 128 letters, digits and signs without blanks"),
        "Idempotency-Key": Expectation(
            options: ["--idempotency-key", "--key"],
            takes: "\(Limits.idempotencyKeyLength.words) letters, digits and signs without blanks"),
    ]

    /// The member and what it takes, as a phrase: `--order takes 1 to 64 …`; `nil` for what no option fills.
    ///
    /// - Parameter arguments: those of the program: of several options the one that was given is meant.
    static func phrase(for error: ErrorDetail, in arguments: [String]) -> String? {
        guard let code = ErrorCode(rawValue: error.code) else { return nil }
        let field: String
        switch code {
        case .requestInvalidField, .requestInvalidParameter, .requestMissingField:
            guard let named = error.field else { return nil }
            field = named
        case .idempotencyKeyInvalid, .idempotencyKeyMissing: field = "Idempotency-Key"
        default: return nil
        }
        guard let expected = expectation(ofField: field) else { return nil }
        let given = expected.options.first { option in
            arguments.contains { $0 == option || $0.hasPrefix(option + "=") }
        }
        let name = given ?? expected.options.first ?? "the \(field)"
        return "\(name) takes \(expected.takes)"
    }
}

extension ClosedRange<Int> {
    fileprivate var words: String { "\(lowerBound) to \(upperBound)" }
}

extension ErrorDetail {
    /// What to do about it at a shell.
    var remedy: String { CommandWords.replaced(in: resolution) }

    /// What happened, and what to do about it at a shell, in the reader's language.
    ///
    /// - Parameter phrases: for a language in which the catalogue speaks to cashiers alone; English where they are missing.
    func told(in language: Language, instead phrases: (what: String, remedy: String)? = nil) -> (
        what: String, remedy: String
    ) {
        guard let known = ErrorCode(rawValue: code) else { return (message, remedy) }
        if let phrases, !language.isComplete, !known.isToldAtTill { return phrases }
        let texts = known.texts(in: language)
        return (texts.message, CommandWords.replaced(in: texts.resolution))
    }

    /// Message and remedy in one line.
    func line(in language: Language) -> String {
        let told = told(in: language)
        return "\(told.what): \(told.remedy)"
    }
}
