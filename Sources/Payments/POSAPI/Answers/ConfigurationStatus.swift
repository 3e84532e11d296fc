// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Which configuration is in force, in `GET /v1/status`.
public struct ConfigurationStatus: Codable, Equatable, Sendable {
    /// When it was read.
    public var loadedAt: Timestamp
    /// Why a newer one was not taken; the one before is in force.
    public var error: String?
    /// Settings that have changed in the file and count from the next start only.
    public var needsRestart: [String]?

    public init(loadedAt: Timestamp, error: String? = nil, needsRestart: [String]? = nil) {
        self.loadedAt = loadedAt
        self.error = error
        self.needsRestart = needsRestart
    }
}
