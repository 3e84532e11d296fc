// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import POSAPI
import PaymentValues
import Settings

extension HostFacts {
    /// The other end of the daemon's way to the payment service.
    func adapter() -> [Finding] {
        guard isInstalled || namesConfiguration else { return [] }
        let path = settings.adapter.socket
        let start = "start your payment service's adapter; for tests: systemctl start nfc-tap-psp-sandbox"
        switch tree.socket(path) {
        case .absent: return [Finding(.adapter, .error, "the adapter's socket \(path) is missing", remedy: start)]
        case .refused:
            return [Finding(.adapter, .error, "the adapter of \(path) has stopped", remedy: start)]
        case .listening, .denied: break
        }
        guard let socket = tree.attributes(path), let userID = accounts.userID(Self.daemonName) else { return [] }
        if socket.mayReadAndWrite(userID: userID, groupIDs: accounts.groupIDs(ofUser: Self.daemonName)) { return [] }
        return [
            Finding(
                .adapter, .error, "\(Self.daemonName) has no access to the adapter's socket \(path)",
                remedy: "let the adapter create the socket with group nfc-tap-psp and mode 0660")
        ]
    }

    /// The key that card data is sealed to, where the configuration names one. In live mode it need not: the signed
    /// profile brings the keys then, and the daemon refuses test keys in it.
    func recipientKey() -> [Finding] {
        guard isInstalled && configurationText != nil || namesConfiguration else { return [] }
        let faults = configurationFaults.filter { $0.key == Self.recipientSetting }
        guard faults.isEmpty else { return faults.map { finding(.recipientKey, $0) } }
        if let key = settings.adapter.recipient { return keyFindings(key) }
        guard settings.mode == .test, isInstalled else { return [] }
        return [
            Finding(
                .recipientKey, .warning,
                "without a key of a profile or of the adapter, card data is sealed to a published test key, which protects nothing",
                remedy:
                    "look for \"published test key\" in the daemon's log; if it is there, set recipient-key in [psp] of "
                    + "\(configurationPath) to your payment service's JWK, and use test cards only until then")
        ]
    }

    static let recipientSetting = "psp.recipient-key"

    private func keyFindings(_ key: RecipientKey) -> [Finding] {
        let seconds = UInt64(max(0, now))
        var findings: [Finding] = []
        let fortnight: UInt64 = 14 * 24 * 60 * 60
        if let expires = key.expires, expires > seconds, expires - seconds < fortnight {
            let days = (expires - seconds) / (24 * 60 * 60)
            findings.append(
                Finding(
                    .recipientKey, .warning, "the recipient key of [psp] expires in \(days) days",
                    remedy: "install a newer JWK of your payment service, and run systemctl reload \(Self.daemonName)"))
        }
        if key.isTest {
            findings.append(
                Finding(
                    .recipientKey, .warning,
                    "the recipient key of [psp] is a published test key, which protects nothing",
                    remedy: "install the JWK of your payment service; until then use test cards only"))
        }
        return findings
    }

    /// What the daemon says of keys that it was given and does not use.
    static func refusedKeys(_ keys: [RefusedKey]) -> [Finding] {
        keys.map { key in
            Finding(
                .recipientKey, .warning,
                "\(key.key) of the \(key.source.rawValue)'s keys is not used: \(key.reason)",
                remedy: "tell your payment service before it destroys the key that is used instead")
        }
    }
}
