// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto

extension Profile {
    /// What an administrator has to accept before the first live payment.
    public struct Terms: Equatable, Sendable {
        public let version: String
        public let text: String
        /// The payment service has ended the contract: what was accepted counts no longer.
        public let isRevoked: Bool
        /// Where an administrator may accept on any device: an `https` address of the payment service.
        public let page: String?
        /// What was accepted there: a JWS as `AcceptanceFile` takes it, not verified yet.
        public let acceptance: String?
        /// SHA-256 of the text in UTF-8, in lower-case hexadecimal: what an acceptance is bound to.
        public let hash: String

        init(version: String, text: String, isRevoked: Bool, page: String?, acceptance: String?) {
            self.version = version
            self.text = text
            self.isRevoked = isRevoked
            (self.page, self.acceptance) = (page, acceptance)
            hash = Hex.string(SHA256.hash(data: Array(text.utf8))).lowercased()
        }
    }
}
