// SPDX-License-Identifier: Apache-2.0
import Doctor
import Glibc
import Linux

/// Asks pcscd in the name of the daemon's user, which only root can.
enum ServiceUser {
    /// pcscd's answer; `.unknown` where it asks nobody, and where we cannot be that user.
    static func answer(in tree: HostTree) -> PCSCAnswer {
        guard geteuid() == 0, HostFacts.asksPolkit(tree), let program = Environment.beside("nfc-tap") else {
            return .unknown
        }
        // polkit looks at the session, too: this one may be allowed what the daemon, which has none, is not.
        let outside =
            FileSystem.exists("/run/systemd/system")
            ? ["systemd-run", "--quiet", "--collect", "--wait", "--pipe", "--uid=nfc-tapd"]
            : ["setpriv", "--reuid=nfc-tapd", "--regid=nfc-tapd", "--init-groups"]
        let output = ProgramRun(outside + [program, "readers", "--access"]).output
        return PCSCAnswer(word: output.split { $0.isWhitespace }.first.map(String.init) ?? "")
    }
}
