// SPDX-License-Identifier: Apache-2.0
import Configuration
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
        return findings
    }
}
