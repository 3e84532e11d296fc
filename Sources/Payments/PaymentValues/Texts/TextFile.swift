// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The texts of one language: `Texts/en.json` and its like, built into the program, read when the first one is needed.
///
/// The form is described in docs/integrating/texts.md.
struct TextFile: Sendable {
    /// One line, or a list of paragraphs.
    private enum Text: Decodable {
        case line(String)
        case paragraphs([String])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let line = try? value.decode(String.self) {
                self = .line(line)
            } else {
                self = .paragraphs(try value.decode([String].self))
            }
        }
    }

    private let texts: [String: Text]

    /// A file that cannot be read has no texts, so that programs go on; a test reads every one.
    private init(_ json: [UInt8]) {
        texts = (try? JSONDecoder().decode([String: Text].self, from: Data(json))) ?? [:]
    }

    var keys: some Collection<String> { texts.keys }

    func line(_ key: String) -> String? {
        guard case .line(let line) = texts[key] else { return nil }
        return line
    }

    func paragraphs(_ key: String) -> [String]? {
        guard case .paragraphs(let paragraphs) = texts[key] else { return nil }
        return paragraphs
    }

    static func of(_ language: Language) -> TextFile {
        switch language {
        case .english: english
        case .german: german
        }
    }

    private static let english = TextFile(PackageResources.en_json)
    private static let german = TextFile(PackageResources.de_json)
}

extension Language {
    /// Keys that this language's file has.
    public var keys: Set<String> { Set(TextFile.of(self).keys) }

    /// The text in this language, or in English where this language lacks it.
    public func text(_ key: TextKey, _ values: [TextKey.Placeholder: String] = [:]) -> String {
        find(key, values) ?? Language.english.find(key, values) ?? key.name
    }

    /// The text in this language; `nil` if its file has none.
    public func find(_ key: TextKey, _ values: [TextKey.Placeholder: String] = [:]) -> String? {
        guard var text = TextFile.of(self).line(key.name) else { return nil }
        for (placeholder, value) in values { text.replace("{\(placeholder.rawValue)}", with: value) }
        return text
    }

    /// A text of several paragraphs, in English where this language lacks it.
    public func paragraphs(_ key: TextKey) -> [String] {
        TextFile.of(self).paragraphs(key.name) ?? TextFile.of(.english).paragraphs(key.name) ?? [key.name]
    }
}
