public import EMV

/// What the outside world learns while a tap goes on.
public enum TapSignal: Equatable, Sendable {
    case cardDetected
    /// More than one card in the field.
    case collision
    case show(UIRequest)
}
