// SPDX-License-Identifier: Apache-2.0
internal import CTexts
import FoundationEssentials
import Synchronization

/// The texts of one language: `en.json` of the room `CTexts` and its like, read when the first one is needed.
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
    ///
    /// - Parameter name: as `ctexts_find` takes it.
    private init(_ name: String) {
        // SAFETY: the name ends with a zero, and is not kept.
        let file = unsafe ctexts_find(name)
        // SAFETY: constants of the program, as many as are counted; they are copied here.
        let json = unsafe Data(buffer: UnsafeBufferPointer(start: file.bytes, count: file.count))
        texts = (try? JSONDecoder().decode([String: Text].self, from: json)) ?? [:]
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

    static func of(_ language: Language) -> TextFile { known(language.rawValue) }

    /// The messages of the till in the browser, `share/till/messages`: what stands on both is written there.
    static func till(_ language: Language) -> TextFile { known("till/" + language.rawValue) }

    /// Each is read once.
    private static func known(_ name: String) -> TextFile {
        files.withLock { files in
            if let file = files[name] { return file }
            let file = TextFile(name)
            files[name] = file
            return file
        }
    }

    private static let files = Mutex<[String: TextFile]>([:])
}

extension Language {
    /// Keys that this language's file has.
    public var keys: Set<String> { Set(TextFile.of(self).keys) }

    /// Keys that the till in the browser has in this language.
    public var tillKeys: Set<String> { Set(TextFile.till(self).keys) }

    /// A message of the till in the browser; English for what is missing, and the key where that has none either.
    public func tillText(_ key: String) -> String {
        TextFile.till(self).line(key) ?? TextFile.till(.english).line(key) ?? key
    }

    /// The text in this language, or in English where this language lacks it.
    public func text(_ key: TextKey, _ values: [TextKey.Placeholder: String] = [:]) -> String {
        find(key, values) ?? Language.english.find(key, values) ?? key.name
    }

    /// The text in this language; `nil` if its file has none.
    public func find(_ key: TextKey, _ values: [TextKey.Placeholder: String] = [:]) -> String? {
        let line = key.tillName.map { TextFile.till(self).line($0) } ?? TextFile.of(self).line(key.name)
        guard var text = line else { return nil }
        // A date is of several values, and is one itself.
        let isValue = key == .dateTime
        for (placeholder, value) in values {
            text.replace("{\(placeholder.rawValue)}", with: isValue ? value : inOrder(value))
        }
        return text
    }

    /// A text of several paragraphs, in English where this language lacks it.
    public func paragraphs(_ key: TextKey) -> [String] {
        TextFile.of(self).paragraphs(key.name) ?? TextFile.of(.english).paragraphs(key.name) ?? [key.name]
    }
}
