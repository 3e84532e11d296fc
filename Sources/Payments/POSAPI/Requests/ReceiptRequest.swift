// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Body of `POST /v1/transactions/{id}/receipt`: where the customer wants the receipt. It has no description that shows the address.
public struct ReceiptRequest: Equatable, Sendable {
    public enum Address: Equatable, Sendable {
        case email(String)
        /// E.164, with `+`.
        case phone(String)
    }

    public var address: Address

    public init(_ address: Address) { self.address = address }
}

extension ReceiptRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "receipt to an address" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ReceiptRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case email, phone
    }

    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        if let phone = try members.decodeIfPresent(String.self, forKey: .phone) {
            guard !members.contains(.email) else {
                throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.email)
            }
            guard phone.isPhoneNumber else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.phone) }
            address = .phone(phone)
        } else {
            let email = try members.decode(String.self, forKey: .email)
            guard email.isEmailAddress else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.email) }
            address = .email(email)
        }
    }

    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch address {
        case .email(let email): try members.encode(email, forKey: .email)
        case .phone(let phone): try members.encode(phone, forKey: .phone)
        }
    }
}

extension String {
    /// `+` and 7 to 15 digits, of which the first is none of 0 (ITU-T E.164 §6.2.1).
    var isPhoneNumber: Bool {
        let digits = utf8.dropFirst()
        return utf8.first == UInt8(ascii: "+") && (7...15).contains(digits.count) && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// As people write one (RFC 5321 §4.5.3.1): a name, one `@`, and a domain with a dot inside; no blanks and no control characters.
    var isEmailAddress: Bool {
        guard (6...254).contains(utf8.count), utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            !unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
            ),
            !utf8.contains(where: { Array("<>()[]\\,;:\"".utf8).contains($0) })
        else { return false }
        let parts = split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count) else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}
