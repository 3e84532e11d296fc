// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Answer of `POST /v1/lanes/{lane}/card-commands`: for whoever asked, and kept nowhere.
public struct CardCommandsAnswer: Codable, Equatable, Sendable {
    public var lane: String
    /// What the card answered to each command, in hexadecimal and with its status word; up to the command that stopped it.
    public var answers: [String]
    /// Why the card did not answer all of them.
    public var error: ErrorDetail?

    public init(lane: String, answers: [String], error: ErrorDetail? = nil) {
        self.lane = lane
        self.answers = answers
        self.error = error
    }
}
