// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a kernel wants next.
public struct KernelStep: Sendable {
    public enum Action: Sendable {
        case transmit(CommandAPDU)
        /// The terminal has to say something first (DEK/DET of kernel 2); answered by `terminalAnswered`.
        case askTerminal(DataExchange)
        /// Apart from the step, as in `TapStep.Action`.
        indirect case finished(Outcome)
    }

    /// Shown before the action is taken, in this order.
    public var signals: [UIRequest]
    public var action: Action

    public init(_ action: Action, signals: [UIRequest] = []) {
        self.action = action
        self.signals = signals
    }
}
