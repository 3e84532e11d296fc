// SPDX-License-Identifier: Apache-2.0
/// When a phone made a pass's cryptogram, by the phone's own clock.
public struct PassTimestamp: Equatable, Sendable {
    /// As transmitted: seconds since 2001-01-01T00:00:00Z.
    public let secondsSince2001: UInt32

    public init(secondsSince2001: UInt32) { self.secondsSince2001 = secondsSince2001 }

    /// Seconds since 1970-01-01T00:00:00Z.
    public var unixSeconds: Int64 { Int64(secondsSince2001) + 978_307_200 }
}
