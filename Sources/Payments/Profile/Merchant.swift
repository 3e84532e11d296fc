// SPDX-License-Identifier: Apache-2.0
extension Profile {
    /// Who is paid.
    public struct Merchant: Equatable, Sendable {
        /// As the payment service knows it: terms are accepted for it.
        public let id: String
        /// The business as customers know it.
        public let displayName: String
        /// What the cardholder's statement will say.
        public let statementDescriptor: String?
        /// For receipts.
        public let addressLines: [String]
        /// The business that the merchant sells for.
        public let onBehalfOf: String?
        /// ISO 3166-1 numeric (9F1A).
        public let country: UInt16
    }
}
