// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Settings

/// `[diagnostics]`: what helps to look into cards and readers, and has no place where money moves.
public struct DiagnosticsSettings: Equatable, Sendable {
    /// An administrator may send commands to a card.
    public var cardCommands = false

    public init() {}

    init(_ table: inout ConfigurationTable, mode: Mode) {
        cardCommands = table.flag("card-commands") ?? false
        table.finish()
        guard cardCommands, mode == .live else { return }
        cardCommands = false
        table.report("card-commands", "is for test mode", "remove it: in live mode nobody sends commands to a card")
    }
}
