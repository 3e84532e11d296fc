// SPDX-License-Identifier: Apache-2.0
/// What people who take and give cards want to know. Every type of transaction has its topic, and so has every end.
public enum HelpTopic: String, Codable, CaseIterable, Sendable {
    /// How to take a payment, a refund, a card check and passes.
    case taps
    /// Where to hold the card, by model of the reader.
    case holding
    case retries
    case declined
    case unknown
    case pin
    case queue
    case receipts
    case loyalty
    case checks
    case terms
    /// Practising without money.
    case practice = "try"
}
