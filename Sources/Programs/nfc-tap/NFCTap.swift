// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes

/// The command at a shell: one-off reads without the daemon, and the daemon's client.
struct NFCTap: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap",
        abstract: "Reads contactless cards and drives nfc-tapd.",
        discussion: ExitCode.list,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Taking cards",
                subcommands: [
                    Pay.self, Refund.self, Verify.self, LookUp.self, StoreCard.self, Charge.self, LinkCommand.self,
                    HandoverCommand.self, StoredCards.self, LoyaltyCommand.self,
                ]),
            CommandGroup(
                name: "The outcome of a payment",
                subcommands: [
                    ListCommand.self, LastCommand.self, Find.self, ReceiptCommand.self, Events.self, Cancel.self,
                    Confirm.self, Reverse.self, Decline.self, Capture.self, Adjust.self, Release.self,
                    SessionsCommand.self,
                ]),
            CommandGroup(
                name: "The day, and what a person has to settle",
                subcommands: [
                    TotalsCommand.self, EndOfDayCommand.self, OpenCommand.self, Resolve.self, QueueCommand.self,
                ]),
            CommandGroup(
                name: "Help, and the state of the machine",
                subcommands: [
                    Try.self, HelpTopics.self, StatusCommand.self, DoctorCommand.self, DiagnoseCommand.self,
                    Readers.self, Prepare.self, TermsCommand.self, ConfigCommand.self, PINDevicesCommand.self,
                    AuditCommand.self,
                ]),
            CommandGroup(
                name: "Cards and kernels, mostly without the daemon",
                subcommands: [
                    Read.self, Decode.self, ExplainCommand.self, Record.self, Replay.self, KernelDiffCommand.self,
                    Simulate.self, Virtual.self, CardCommand.self,
                ]),
            CommandGroup(name: "For integrators", subcommands: [AdapterCheckCommand.self, ECRBench.self]),
        ])
}
