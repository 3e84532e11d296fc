// SPDX-License-Identifier: Apache-2.0
/// Answer to a request with `"dryRun": true` that would be accepted. One that would not gets the error it would get.
public struct DryRunAnswer: Codable, Equatable, Sendable {
    public var dryRun = true
    public var mode: Mode
    public var type: TransactionType
    /// Where the card would be asked for.
    public var lane: String

    public init(mode: Mode, type: TransactionType, lane: String) {
        self.mode = mode
        self.type = type
        self.lane = lane
    }
}
