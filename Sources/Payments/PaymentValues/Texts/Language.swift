// SPDX-License-Identifier: Apache-2.0
/// A language that texts for people exist in: those of the till in the browser.
///
/// English and German have every text. The others have all that a customer and a shop read; what an administrator or a
/// programmer reads is English there.
public enum Language: String, CaseIterable, Sendable {
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

    /// Whether it has the texts for administrators and programmers, too.
    public var isComplete: Bool { self == .english || self == .german }

    /// Whether it is written from the right. A number among its words takes their direction: -2.37 is shown as 2.37-, and 2026-11-29 as
    /// 29-11-2026 (UAX #9, W2).
    public var isFromTheRight: Bool { self == .arabic }

    /// A sum, a date, an id or a command for a line of this language, shown as it is written: after a left-to-right mark where the line comes
    /// from the right, as CLDR writes Arabic's minus. Nothing follows it, so that what is copied from a terminal is the value alone.
    public func inOrder(_ value: String) -> String {
        let mark = "\u{200E}"
        // Hebrew, Arabic and their neighbours: words, which have their own direction.
        guard isFromTheRight, !value.isEmpty, !value.hasPrefix(mark),
            !value.unicodeScalars.contains(where: { (0x590...0x8FF).contains($0.value) })
        else { return value }
        return mark + value
    }

    /// - Parameter tag: BCP 47; English for whatever has no texts.
    public init(tag: String?) {
        let primary = tag?.lowercased().prefix { $0 != "-" && $0 != "_" }
        self = primary.flatMap { Language(rawValue: String($0)) } ?? .english
    }

    /// The best of what a client accepts (RFC 9110 §12.5.4); English if it names no known language, or cannot be read.
    ///
    /// - Parameter field: the value of `Accept-Language`: `de-AT, de;q=0.9, en;q=0.5`.
    public init(accepting field: String) {
        var best: (language: Language, weight: Int) = (.english, 0)
        for range in field.split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
            guard let tag = parts.first, !tag.isEmpty else { continue }
            let weight = parts.dropFirst().first.map(Language.weight) ?? 1_000
            let primary = tag.lowercased().prefix { $0 != "-" }
            guard let language = tag == "*" ? .english : Language(rawValue: String(primary)) else { continue }
            // Of two with the same weight the first one wins.
            if weight > best.weight { best = (language, weight) }
        }
        self = best.language
    }

    /// Thousandths of `q=0.5`; 0 for an invalid weight.
    private static func weight(_ parameter: String) -> Int {
        let pair = parameter.split(separator: "=", maxSplits: 1).map(String.init)
        guard pair.count == 2, pair[0].lowercased() == "q" else { return 0 }
        let digits = pair[1].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = digits.first.flatMap({ Int($0) }), (0...1).contains(whole) else { return 0 }
        let fraction = digits.count == 2 ? digits[1].prefix(3) : ""
        let padded = fraction + String(repeating: "0", count: 3 - fraction.count)
        guard let thousandths = Int(padded), thousandths >= 0 else { return 0 }
        return min(1_000, whole * 1_000 + thousandths)
    }
}
