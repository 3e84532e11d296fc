// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CScrub
import Linux
import Suggestions

@main
enum Main {
    static func main() async {
        // Some commands read cards; what cannot be had is no reason not to.
        _ = ProcessHardening.apply()
        do {
            var command = try NFCTap.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                // Whatever the card said is gone from the heap when this returns, and from the stack after the next line.
                defer { cscrub_dead_stack() }
                try command.run()
            }
        } catch let failure as Failure {
            failure.report(asJSON: FailureMessage.isWanted)
            NFCTap.exit(withError: failure.exitCode)
        } catch let thrown {
            let error = NFCTap.explained(thrown, in: Array(CommandLine.arguments.dropFirst()))
            let code = NFCTap.exitCode(for: error)
            let message = NFCTap.message(for: error)
            // Help is no failure, and a command that ends with a code of its own has said what there is.
            guard FailureMessage.isWanted, !code.isSuccess, !message.isEmpty else { NFCTap.exit(withError: error) }
            FailureMessage(usage: message, exitCode: code).report()
            NFCTap.exit(withError: code)
        }
    }
}
