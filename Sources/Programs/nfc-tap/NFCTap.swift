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
        subcommands: [
            Readers.self, Read.self, Pay.self, Refund.self, Verify.self, LookUp.self, StoreCard.self, Charge.self,
            LinkCommand.self, HandoverCommand.self, StoredCards.self,
            LoyaltyCommand.self, Prepare.self, ConfigCommand.self, StatusCommand.self, TermsCommand.self, Find.self,
            Cancel.self, Confirm.self, Reverse.self, Decline.self, Capture.self, Adjust.self, Release.self,
            Resolve.self, QueueCommand.self, OpenCommand.self, Events.self,
            ReceiptCommand.self, ListCommand.self, LastCommand.self, TotalsCommand.self, DayEndCommand.self,
            HelpTopics.self, Try.self, Virtual.self, CardCommand.self,
            Decode.self, ExplainCommand.self, Replay.self, KernelDiffCommand.self, Record.self, Simulate.self,
            DoctorCommand.self, DiagnoseCommand.self, AuditCommand.self, AdapterCheckCommand.self,
            PINDevicesCommand.self, ECRBench.self,
        ])
}
