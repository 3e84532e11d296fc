// SPDX-License-Identifier: Apache-2.0
/// Where an operation on a payment stands. Every change is in the journal before it has an effect outside the process.
public enum OperationState: String, Codable, CaseIterable, Sendable {
    /// Accepted and written down.
    case created
    /// On its way to the payment service, or delivered; no usable answer yet.
    case sent
    /// Sent, and no usable answer came: asked about, and sent again under the same id. Never reversed for want of an answer.
    case unknown
    case done
    case refused

    /// The only legal changes: the one table of them.
    public var successors: Set<OperationState> {
        switch self {
        // Refused while it is certain that no byte has left.
        case .created: [.sent, .refused]
        case .sent: [.done, .refused, .unknown]
        case .unknown: [.sent, .done, .refused]
        case .done, .refused: []
        }
    }

    /// Money may still move because of it.
    public var isOpen: Bool {
        switch self {
        case .created, .sent, .unknown: true
        case .done, .refused: false
        }
    }
}
