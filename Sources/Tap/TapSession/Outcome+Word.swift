// SPDX-License-Identifier: Apache-2.0
public import EMV

extension Outcome.Status {
    /// The word for it in the envelope and in events.
    public var word: String {
        switch self {
        case .approved: "approved"
        case .declined: "declined"
        case .onlineRequest: "onlineRequest"
        case .endApplication: "endApplication"
        case .selectNext: "selectNext"
        case .tryAnotherInterface: "tryAnotherInterface"
        case .tryAgain: "tryAgain"
        }
    }
}
