// SPDX-License-Identifier: Apache-2.0
import Wire

/// Body of `POST /v1/authorizations/{id}/completions`: capture, tip, or advice of an offline approval.
struct CompletionRequest: Codable, Equatable, Sendable {
    var amount: Money
    /// TC or AAC and what belongs to it, BER-TLV in hexadecimal.
    var emv: String?
}

/// Body of `POST /v1/authorizations/{id}/refunds`.
struct RefundRequest: Codable, Equatable, Sendable {
    var amount: Money
}
