// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What one record of a tag says, as far as it can carry a member number.
public struct NDEFContent: Sendable {
    public enum Kind: Equatable, Sendable {
        /// An absolute address, its prefix code spelt out.
        case uri
        /// Text with its language code.
        case text(language: String)
        /// A record of an organisation's own type, `example.com:member`.
        case external(type: String)
        case media(type: String)
    }

    public let kind: Kind
    /// UTF-8 for addresses and text, as transmitted for the others.
    public let value: SecretBytes

    /// The records of a message that are understood, smart posters looked into (their address and titles).
    ///
    /// - Throws: `NDEFError` where the message is none. A record that is damaged inside is left out.
    public static func all(
        in bytes: borrowing Span<UInt8>, range: Range<Int>? = nil
    ) throws(NDEFError) -> [NDEFContent] {
        var contents: [NDEFContent] = []
        for record in try NDEF.records(bytes, in: range) {
            if record.isType(.wellKnown, "Sp", in: bytes) {
                for inner in try NDEF.records(bytes, in: record.payload) {
                    if let content = NDEFContent(inner, in: bytes) { contents.append(content) }
                }
            } else if let content = NDEFContent(record, in: bytes) {
                contents.append(content)
            }
        }
        return contents
    }

    init?(_ record: NDEFRecord, in bytes: borrowing Span<UInt8>) {
        switch record.format {
        case .wellKnown:
            if NDEF.equal(bytes, record.type, "U") {
                guard let uri = NDEFContent.uri(bytes, record.payload) else { return nil }
                self = NDEFContent(kind: .uri, value: uri)
            } else if NDEF.equal(bytes, record.type, "T") {
                guard let text = NDEFText(bytes, record.payload), let value = text.value(in: bytes) else { return nil }
                self = NDEFContent(kind: .text(language: text.language), value: value)
            } else {
                return nil
            }
        case .external:
            guard let type = NDEFContent.ascii(bytes, record.type) else { return nil }
            self = NDEFContent(kind: .external(type: type), value: SecretText.copy(bytes, record.payload))
        case .media:
            guard let type = NDEFContent.ascii(bytes, record.type) else { return nil }
            self = NDEFContent(kind: .media(type: type), value: SecretText.copy(bytes, record.payload))
        case .absoluteURI:
            guard let uri = SecretText.utf8(bytes, record.type) else { return nil }
            self = NDEFContent(kind: .uri, value: uri)
        case .empty, .unknown:
            return nil
        }
    }

    private init(kind: Kind, value: SecretBytes) {
        self.kind = kind
        self.value = value
    }

    private static func uri(_ bytes: borrowing Span<UInt8>, _ payload: Range<Int>) -> SecretBytes? {
        guard let code = payload.first, let rest = SecretText.utf8(bytes, payload.dropFirst()) else { return nil }
        let prefix = NDEFURIPrefix.text(Int(bytes[code]))
        return rest.withSpan { rest in
            SecretBytes(capacity: rest.count + prefix.utf8.count) { writer in
                writer.append(contentsOf: prefix.utf8)
                for index in rest.indices { writer.append(rest[index]) }
            }
        }
    }

    static func ascii(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> String? {
        var text = ""
        for index in range {
            guard (0x21...0x7E).contains(bytes[index]) else { return nil }
            text.unicodeScalars.append(Unicode.Scalar(bytes[index]))
        }
        return text.isEmpty ? nil : text
    }
}

/// The parts of a text record's payload (NFC Forum Text RTD §3.2.1): status byte, language, text.
struct NDEFText {
    let language: String
    let isUTF16: Bool
    let text: Range<Int>

    init?(_ bytes: borrowing Span<UInt8>, _ payload: Range<Int>) {
        guard let first = payload.first else { return nil }
        let status = bytes[first]
        let languageLength = Int(status & 0x3F)
        guard payload.count > languageLength else { return nil }
        let start = first + 1 + languageLength
        language = NDEFContent.ascii(bytes, first + 1..<start) ?? ""
        isUTF16 = status & 0x80 != 0
        text = start..<payload.upperBound
    }

    /// The text in UTF-8; `nil` where it is damaged.
    func value(in bytes: borrowing Span<UInt8>) -> SecretBytes? {
        isUTF16 ? SecretText.utf16(bytes, text) : SecretText.utf8(bytes, text)
    }
}
