// SPDX-License-Identifier: Apache-2.0
import CardBytes
import LocalHTTP
import PaymentValues
import StrictJSON

/// The secrets of one message. The message itself is made and encoded with a mark for each of them; the secrets take the
/// marks' places only in memory that is wiped.
struct SecretTexts {
    enum Form {
        /// UTF-8; what is none becomes U+FFFD.
        case text
        case hexadecimal
    }

    /// Stands nowhere in a message by chance.
    private let mark = SecretTexts.newMark()
    private var secrets: [(bytes: SecretBytes, form: Form)] = []

    /// What stands for the secret in the message.
    mutating func mark(_ bytes: SecretBytes, as form: Form) -> String {
        secrets.append((bytes, form))
        // All marks are of one length.
        let number = String(secrets.count - 1)
        return mark + String(repeating: "0", count: SecretTexts.digits - number.utf8.count) + number
    }

    /// The message's JSON with the secrets in it.
    func fill(_ json: [UInt8]) -> SecretBytes {
        let mark = Array(mark.utf8)
        return SecretBytes(capacity: json.count) { writer in
            var index = 0
            while index < json.count {
                guard let secret = secret(at: index, in: json, mark) else {
                    writer.append(json[index])
                    index += 1
                    continue
                }
                write(secret.bytes, secret.form, to: &writer)
                index += mark.count + SecretTexts.digits
            }
        }
    }

    private func secret(at index: Int, in json: [UInt8], _ mark: [UInt8]) -> (bytes: SecretBytes, form: Form)? {
        guard json[index] == mark[0], json[index...].starts(with: mark) else { return nil }
        let digits = json[index...].dropFirst(mark.count).prefix(SecretTexts.digits)
        guard let number = Int(String(decoding: digits, as: UTF8.self)), secrets.indices.contains(number) else {
            return nil
        }
        return secrets[number]
    }

    private func write(_ bytes: SecretBytes, _ form: Form, to writer: inout SecretWriter) {
        bytes.withSpan { span in
            switch form {
            case .hexadecimal: for index in span.indices { writer.append(hex: CollectionOfOne(span[index])) }
            case .text: UTF8Text.write(span, to: &writer)
            }
        }
    }

    private static let digits = 6

    private static func newMark() -> String {
        var generator = SystemRandomNumberGenerator()
        return "secret-" + Hex.string((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }) + "-"
    }
}

/// Text inside a JSON string, byte by byte and without a `String` in between.
private enum UTF8Text {
    static func write(_ text: borrowing Span<UInt8>, to writer: inout SecretWriter) {
        var index = 0
        while index < text.count {
            let length = sequenceLength(text, index)
            if length == 0 {
                writer.append(contentsOf: [0xEF, 0xBF, 0xBD])
            } else if length == 1 {
                JSONEscape.write(text[index]) { writer.append($0) }
            } else {
                for offset in 0..<length { writer.append(text[index + offset]) }
            }
            index += max(1, length)
        }
    }

    /// Bytes of the well-formed sequence at `index` (Unicode 15.0, table 3-7); 0 where none is.
    private static func sequenceLength(_ text: borrowing Span<UInt8>, _ index: Int) -> Int {
        let first = text[index]
        if first < 0x80 { return 1 }
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF:
            length = 3
            if first == 0xE0 { second = 0xA0...0xBF }
            if first == 0xED { second = 0x80...0x9F }
        case 0xF0...0xF4:
            length = 4
            if first == 0xF0 { second = 0x90...0xBF }
            if first == 0xF4 { second = 0x80...0x8F }
        default: return 0
        }
        guard text.count - index >= length, second.contains(text[index + 1]) else { return 0 }
        for offset in 2..<max(2, length) where !(0x80...0xBF).contains(text[index + offset]) { return 0 }
        return length
    }
}

extension HTTPResponse {
    /// As `message`, with the secrets in their places.
    static func message(_ status: Int, _ message: some Encodable, _ secrets: SecretTexts, fields: HTTPFields) -> Self {
        do throws(WireError) {
            let body = secrets.fill(try WireJSON.encode(message, for: RequestContext.audience))
            var fields = fields
            fields.set("Content-Type", "application/json")
            fields.set("Cache-Control", "no-store")
            return HTTPResponse(
                status: status, fields: fields,
                body: .secret(
                    SecretBody(count: body.count) { next in
                        body.withSpan { bytes in for index in bytes.indices { next(bytes[index]) } }
                    }))
        } catch {
            return .refusal(ErrorBody(error))
        }
    }
}
