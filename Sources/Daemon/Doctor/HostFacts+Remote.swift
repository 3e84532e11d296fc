// SPDX-License-Identifier: Apache-2.0
import Configuration
import POSAPI
import PaymentValues

/// The program that starts what a backend far away asks for.
extension HostFacts {
    func remote() -> [Finding] {
        guard let remote = settings.remote else { return [] }
        let groups = Set([Role.admin, .cashier, .loyalty, .machine].compactMap { settings.pos.roles[$0] })
        let strangers = accounts.users(in: remote.group).filter {
            !accounts.groupIDs(ofUser: $0).isDisjoint(with: groups)
        }
        var findings = strangers.map { user in
            Finding(
                .remote, .error,
                "the user \(user) is in the group of [remote] and in one of the groups of tills: on the socket it has the power of "
                    + "[remote] alone", remedy: "take it out of one of the two with gpasswd --delete")
        }
        let hasDisplays =
            tree.exists("/etc/systemd/system/sockets.target.wants/nfc-tap-gateway.socket")
            || tree.exists("/etc/systemd/system/multi-user.target.wants/nfc-tap-gateway.service")
            || !processes(of: Self.gatewayName).isEmpty
        if !remote.isUnseen, !hasDisplays {
            findings.append(
                Finding(
                    .remote, .error,
                    "nothing shows a customer the amount: each start of a backend on \(remote.lanes.sorted().joined(separator: ", ")) "
                        + "is refused with remote.unseen",
                    remedy:
                        "switch the gateway on and open the display of the lane (docs/integrating/gateway.md), or write "
                        + "unseen = true in [remote]"))
        }
        return findings + remoteBackends()
    }

    /// What `nfc-tap-remote` says of itself. Its file goes with it.
    private static let remoteStatus = "/run/nfc-tap-remote/status.json"
    /// Seconds without an answer, and those for which a result may be untold: polls are 25 s apart, and an outage is no fault of the shop.
    private static let (longestSilence, longestWait): (Int64, Int64) = (120, 600)

    private struct BackendFacts: Decodable {
        var name: String
        var lastAnswer: Timestamp?
        var trouble: String?
        var clockHolds: Bool
        var untold: Int
        /// Seconds since 1970.
        var untoldSince: Int64?
    }

    private func remoteBackends() -> [Finding] {
        guard let bytes = tree.bytes(Self.remoteStatus) else { return [] }
        guard let all = try? WireJSON.decode([BackendFacts].self, from: bytes) else {
            return [
                Finding(
                    .remote, .warning, "\(Self.remoteStatus) cannot be read",
                    remedy: "restart the program: systemctl restart nfc-tap-remote")
            ]
        }
        return all.flatMap(findings)
    }

    private func findings(_ backend: BackendFacts) -> [Finding] {
        var findings: [Finding] = []
        func add(_ severity: Finding.Severity, _ problem: String, _ remedy: String) {
            findings.append(Finding(.remote, severity, "the backend \(backend.name) \(problem)", remedy: remedy))
        }
        let silence = backend.lastAnswer.map { now - $0.milliseconds / 1_000 } ?? .max
        if let trouble = backend.trouble {
            add(
                .error, "sends no orders: \(trouble.prefix(200))",
                "see journalctl -u nfc-tap-remote and the proxy's log")
        } else if silence > Self.longestSilence {
            add(
                .error, "has not answered " + (silence == .max ? "yet" : "for \(silence) s"),
                "see journalctl -u nfc-tap-remote and the proxy's log")
        }
        if !backend.clockHolds {
            add(
                .error, "has a clock that differs by more than 30 s from this machine's: no order begins",
                "set the clocks of both, for example with timedatectl set-ntp true")
        }
        if backend.untold > 0, let since = backend.untoldSince, now - since > Self.longestWait {
            add(
                .warning,
                "has not taken \(backend.untold) results, the oldest of an order of \((now - since) / 60) minutes ago",
                "look at what the backend answers to POST …/results")
        }
        return findings
    }
}
