// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a request of type `link` or `handover` says beyond amount and order.
public struct LinkOptions: Codable, Equatable, Sendable {
    /// Seconds in which the customer may pay.
    public var expires: Int
    /// With a hand-over: the terminal, by the name that the payment service gives it.
    public var to: String?

    public init(expires: Int = Limits.defaultLinkSeconds, to: String? = nil) {
        self.expires = expires
        self.to = to
    }
}

/// Where a customer pays, as long as that is possible.
public struct OpenLink: Codable, Equatable, Sendable {
    /// The payload of a QR code.
    public var url: String
    public var expiresAt: Timestamp

    public init(url: String, expiresAt: Timestamp) {
        self.url = url
        self.expiresAt = expiresAt
    }
}
