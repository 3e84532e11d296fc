// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// The payment service's profile as `GET /v1/status` tells of it.
public struct ProfileStatus: Codable, Equatable, Sendable {
    public var serial: UInt64
    public var serviceName: String
    public var merchant: String
    public var displayName: String
    /// The business that `displayName` collects the money for.
    public var onBehalfOf: String?
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp
    /// `false` for a file that nobody signed; it works in test mode only.
    public var signed: Bool
    /// From then on the payment service does not accept this version of the daemon.
    public var deprecatedFrom: Timestamp?

    public init(
        serial: UInt64, serviceName: String, merchant: String, displayName: String, onBehalfOf: String? = nil,
        issuedAt: Timestamp, expiresAt: Timestamp, signed: Bool, deprecatedFrom: Timestamp? = nil
    ) {
        self.serial = serial
        self.serviceName = serviceName
        self.merchant = merchant
        self.displayName = displayName
        self.onBehalfOf = onBehalfOf
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.signed = signed
        self.deprecatedFrom = deprecatedFrom
    }
}
