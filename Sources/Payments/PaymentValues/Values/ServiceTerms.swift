// SPDX-License-Identifier: Apache-2.0
/// What a payment service has said, with its approval, of what may be done with the payment afterwards.
public struct ServiceTerms: Codable, Hashable, Sendable {
    /// Until when it holds the sum.
    public var captureBefore: Timestamp?
    /// How much may be captured in all, in minor units, where that is more than it holds.
    public var maximumCapture: Int64?
    /// A refund that names the payment needs the card.
    public var refundNeedsCard: Bool?

    /// With a card that is stored: what later charges have to name to the network, and `YYYY-MM`.
    public var networkReference: String?
    public var cardExpires: String?

    public init(captureBefore: Timestamp? = nil, maximumCapture: Int64? = nil, refundNeedsCard: Bool? = nil) {
        self.captureBefore = captureBefore
        self.maximumCapture = maximumCapture
        self.refundNeedsCard = refundNeedsCard
    }
}
