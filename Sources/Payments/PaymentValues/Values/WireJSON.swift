// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// JSON of both APIs, as bytes. Keys are sorted, so that the same value is always the same bytes.
public enum WireJSON {
    /// - Throws: `WireError` with `request.malformed_json`, `request.unknown_field`, `request.missing_field`,
    ///   `request.invalid_field`, `request.duplicate_field`, or what the message type itself refuses; the field is named where there is one.
    public static func decode<Message: Decodable>(
        _ type: Message.Type, from bytes: [UInt8]
    ) throws(WireError) -> Message {
        do {
            let message = try JSONDecoder().decode(type, from: Data(bytes))
            if let name = DuplicateMember.name(in: bytes) {
                throw WireError(.requestDuplicateField, field: WireError.printable(name))
            }
            return message
        } catch let error as WireError {
            throw error
        } catch let error as DecodingError {
            throw WireError(error)
        } catch {
            throw WireError(.requestMalformedJSON)
        }
    }

    /// - Parameter audience: whom the texts of errors speak to; by themselves they are English.
    /// - Throws: `WireError` with `internal`; cannot happen with the types of this module.
    public static func encode(
        _ message: some Encodable, for audience: Audience = .nobody
    ) throws(WireError) -> [UInt8] {
        let encoder = JSONEncoder()
        if let key = CodingUserInfoKey.audience { encoder.userInfo[key] = audience }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(message)) } catch { throw WireError(.internalFault) }
    }
}

extension WireError {
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.requestMissingField, field: WireError.path(context.codingPath + [key]))
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(.requestInvalidField, field: WireError.path(context.codingPath))
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            self.init(.requestInvalidField, field: WireError.path(context.codingPath))
        case .dataCorrupted:
            self.init(.requestMalformedJSON)
        @unknown default:
            self.init(.requestMalformedJSON)
        }
    }

    /// The path as people write it. Names come from the sender: cut, and printable ASCII only.
    static func path(_ keys: [any CodingKey]) -> String? {
        var text = ""
        for key in keys {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return printable(text)
    }

    static func printable(_ text: String) -> String? {
        let printable = text.unicodeScalars.prefix(Limits.fieldPathLength)
            .map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }
        return printable.isEmpty ? nil : String(printable)
    }
}
