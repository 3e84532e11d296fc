/// What Entry Point gives to the terminal (EMV Contactless Book B §3.5).
public struct FinalOutcome: Equatable, Sendable {
    public var outcome: Outcome
    /// The application whose kernel made the outcome; `nil` where Entry Point itself did.
    public var application: SelectedApplication?

    public init(outcome: Outcome, application: SelectedApplication? = nil) {
        self.outcome = outcome
        self.application = application
    }

    /// Whether the terminal is to start Entry Point again at `outcome.start` once its own part is done.
    public var wantsRestart: Bool { outcome.start != nil }
}
