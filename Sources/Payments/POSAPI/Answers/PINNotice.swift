// SPDX-License-Identifier: Apache-2.0
/// With the events `pin.…`: who asks the customer for a PIN, and what came of it.
public struct PINNotice: Codable, Equatable, Sendable {
    /// Why it is asked for.
    public enum Cause: String, Codable, CaseIterable, Sendable {
        /// Card and terminal have agreed on it.
        case kernel
        /// The issuer has asked for it with its answer.
        case issuer
    }

    public enum State: String, Codable, CaseIterable, Sendable {
        case entered, cancelled, timedOut, failed
    }

    /// The device's name in the configuration.
    public var device: String
    public var cause: Cause
    /// Seconds for the customer, with `pin.requested`.
    public var timeout: Int?
    /// With `pin.requested`, where the till has asked for it.
    public var accessible: Bool?
    /// With `pin.completed`.
    public var state: State?

    public init(device: String, cause: Cause = .kernel, timeout: Int? = nil, state: State? = nil) {
        self.device = device
        self.cause = cause
        self.timeout = timeout
        self.state = state
    }
}
