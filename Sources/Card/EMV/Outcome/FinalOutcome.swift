// SPDX-License-Identifier: Apache-2.0
/// What Entry Point gives to the terminal (EMV Contactless Book B §3.5).
public struct FinalOutcome: Equatable, Sendable {
    public var outcome: Outcome
    /// The application whose kernel made the outcome; `nil` where Entry Point itself did.
    public var application: SelectedApplication?

    public init(outcome: Outcome, application: SelectedApplication? = nil) {
        self.outcome = outcome
        self.application = application
    }

    /// Whether the terminal is to start Entry Point again at `outcome.start` once its own part is done. After an online
    /// request `isRestartDue(after:)` says more.
    public var wantsRestart: Bool { outcome.start != nil }

    /// Whether the restart is due once the issuer answered: always, or only where the answer has something for the card
    /// (EMV Contactless Book A §6.2, Online Response Data).
    ///
    /// - Parameter response: `nil` where the transaction did not go online, or no answer came.
    public func isRestartDue(after response: OnlineResponse?) -> Bool {
        guard outcome.start != nil else { return false }
        switch outcome.onlineResponseData {
        case .emvData: return response?.hasCardData ?? false
        case .any: return response != nil
        case nil: return true
        }
    }
}
