// SPDX-License-Identifier: Apache-2.0
import Settings

/// The door for browsers, which is installed with the daemon and runs where somebody has switched it on.
extension HostFacts {
    static let gatewayName = "nfc-tap-gateway"
    private static let switchOn = ["systemctl", "enable", "--now", "nfc-tap-gateway.socket", "nfc-tap-gateway.service"]

    func gateway() -> [Finding] {
        guard hasUnit("nfc-tap-gateway.service") else { return [] }
        let findings = gatewayAccounts()
        let isWanted =
            tree.exists("/etc/systemd/system/sockets.target.wants/nfc-tap-gateway.socket")
            || tree.exists("/etc/systemd/system/multi-user.target.wants/nfc-tap-gateway.service")
        guard isWanted || !processes(of: Self.gatewayName).isEmpty else { return findings }
        return findings + gatewaySettings() + gatewayPort()
    }

    private func gatewayAccounts() -> [Finding] {
        guard accounts.groupID(Self.gatewayName) != nil, accounts.userID(Self.gatewayName) != nil else {
            let make = ["systemd-sysusers", "nfc-tap.conf"]
            return [
                Finding(
                    .gateway, .error, "the user or the group \(Self.gatewayName) is missing",
                    remedy: make.joined(separator: " "), fix: .run(make))
            ]
        }
        guard let cashiers = accounts.groupID("nfc-tap"),
            accounts.groupIDs(ofUser: Self.gatewayName).contains(cashiers)
        else { return [] }
        return [
            Finding(
                .gateway, .error,
                "the user \(Self.gatewayName) is in the group nfc-tap: it is a cashier without a till",
                remedy: "gpasswd --delete \(Self.gatewayName) nfc-tap && systemctl restart \(Self.gatewayName)")
        ]
    }

    private func gatewaySettings() -> [Finding] {
        switch gatewayFacts.pages {
        case .success(let pages): return gatewayPages(pages.folder) + localNetworkAccess(pages.origins)
        case .failure(let error):
            let place = GatewayFacts.file + (error.line.map { ":\($0)" } ?? "")
            return [Finding(.gateway, .error, "\(place): \(error.key) \(error.problem)", remedy: error.remedy)]
        }
    }

    /// Without them a till's address opens nothing, and the gateway refuses to pair.
    private func gatewayPages(_ folder: String) -> [Finding] {
        let missing = ["till.html", "display.html"].filter { !tree.exists("\(folder)/\($0)") }
        guard !missing.isEmpty else { return [] }
        return [
            Finding(
                .gateway, .error,
                "\(missing.joined(separator: " and ")) missing in \(folder): the gateway has no page to open",
                remedy: "apt-get install --reinstall nfc-tap, or name the folder with pages in \(GatewayFacts.file); "
                    + "then systemctl restart \(Self.gatewayName)")
        ]
    }

    private func localNetworkAccess(_ origins: Set<String>) -> [Finding] {
        // Only what comes from elsewhere is asked for: the gateway's own pages are on this machine.
        let strange = origins.filter { !Self.isLocal($0) }.sorted()
        guard let first = strange.first else { return [] }
        return Self.browsers.filter { browser in
            browser.paths.contains { tree.exists($0) } && !isGranted(first, by: browser)
        }
        .map { browser in
            Finding(
                .gateway, .note,
                "\(browser.name) asks its user before \(first) may reach this machine (Local Network Access)",
                remedy:
                    "allow it at the first question, or write a policy into \(browser.policies) as docs/integrating/gateway.md shows"
            )
        }
    }

    private struct Browser {
        let name: String
        /// Of its program, one of them.
        let paths: [String]
        let policies: String
    }

    /// Those whose policies are files of the machine, with the folder that each one reads.
    private static let browsers = [
        Browser(
            name: "Chromium", paths: ["/usr/bin/chromium", "/usr/bin/chromium-browser"],
            policies: "/etc/chromium/policies/managed"),
        Browser(
            name: "Chrome",
            paths: ["/usr/bin/google-chrome", "/usr/bin/google-chrome-stable", "/opt/google/chrome/chrome"],
            policies: "/etc/opt/chrome/policies/managed"),
        Browser(
            name: "Edge", paths: ["/usr/bin/microsoft-edge", "/usr/bin/microsoft-edge-stable"],
            policies: "/etc/opt/edge/policies/managed"),
    ]

    private static func isLocal(_ origin: String) -> Bool {
        ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { origin.hasPrefix($0) }
    }

    /// Whether a policy of this machine answers for its users.
    private func isGranted(_ origin: String, by browser: Browser) -> Bool {
        let folder = browser.policies
        return tree.entries(folder).contains { file in
            let text = tree.text("\(folder)/\(file)") ?? ""
            return text.contains("\"\(origin)\"")
                && ["LocalNetworkAccessAllowedForUrls", "LoopbackNetworkAllowedForUrls"].contains { text.contains($0) }
        }
    }

    /// Who listens at its port. systemd opens the sockets, as root; the gateway itself where nobody has.
    private func gatewayPort() -> [Finding] {
        let port = gatewayFacts.port
        let listeners = Listener.all(in: tree).filter { $0.port == port }
        if listeners.isEmpty {
            return [
                Finding(
                    .gateway, .error, "no program listens at 127.0.0.1:\(port): browsers cannot reach the gateway",
                    remedy: Self.switchOn.joined(separator: " "), fix: .run(Self.switchOn))
            ]
        }
        let own = Set([0, accounts.userID(Self.gatewayName)].compactMap(\.self))
        return listeners.flatMap { listener in
            var findings: [Finding] = []
            if !own.contains(listener.userID) {
                let user = accounts.userName(listener.userID) ?? "uid \(listener.userID)"
                findings.append(
                    Finding(
                        .gateway, .error, "a program of \(user) has taken port \(port)",
                        remedy:
                            "ss -ltnp 'sport = :\(port)' names it; end it, then \(Self.switchOn.joined(separator: " "))"
                    ))
            }
            if !listener.isLoopback {
                findings.append(
                    Finding(
                        .gateway, .error, "port \(port) can be reached from other machines, without encryption",
                        remedy:
                            "write ListenStream=127.0.0.1:\(port) in nfc-tap-gateway.socket; docs/integrating/gateway.md shows TLS"
                    )
                )
            }
            return findings
        }
    }
}

/// A TCP socket that waits for connections, from /proc/net/tcp and tcp6 (proc(5)).
struct Listener: Equatable {
    var port: Int
    var isLoopback: Bool
    /// Who opened it.
    var userID: UInt32

    static func all(in tree: HostTree) -> [Listener] {
        ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { file in
            (tree.text(file) ?? "").split(separator: "\n").dropFirst().compactMap { Listener(line: $0) }
        }
    }

    /// `0: 0100007F:220C 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 …`; addresses as the machine has them in
    /// memory, and 0A for one that listens.
    private init?(line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count > 7, fields[3] == "0A", let userID = UInt32(fields[7]) else { return nil }
        let local = fields[1].split(separator: ":")
        guard local.count == 2, let port = Int(local[1], radix: 16) else { return nil }
        self.port = port
        self.userID = userID
        // 127.0.0.0/8; ::1; and the first of them within IPv6.
        let address = local[0]
        let word = address.suffix(8)
        let isMapped = address.count == 8 || address.hasPrefix("0000000000000000FFFF0000")
        isLoopback = isMapped ? word.hasSuffix("7F") : address == "00000000000000000000000001000000"
    }
}
