// SPDX-License-Identifier: Apache-2.0
/// What pre-processing found for one combination (EMV Contactless Book B Table 3-2).
public struct PreProcessingIndicators: Equatable, Sendable {
    public var statusCheckRequested = false
    public var contactlessNotAllowed = false
    public var zeroAmount = false
    public var cvmLimitExceeded = false
    public var floorLimitExceeded = false
    /// The combination's own copy of the TTQ; `nil` where it has none.
    public var ttq: TTQ?

    public init() {}
}
