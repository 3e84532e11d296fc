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
