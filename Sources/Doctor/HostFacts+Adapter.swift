import Envelope

extension HostFacts {
    /// The other end of the daemon's way to the payment service.
    func adapter() -> [Finding] {
        guard isInstalled else { return [] }
        let path = settings.adapterSocket
        let start = "start your payment service's adapter; for tests: systemctl start nfc-tap-psp-sandbox"
        switch tree.socket(path) {
        case .absent: return [Finding(.adapter, .error, "no payment adapter has made \(path)", remedy: start)]
        case .refused:
            return [Finding(.adapter, .error, "the payment adapter of \(path) does not run any more", remedy: start)]
        case .listening, .denied: break
        }
        guard let socket = tree.attributes(path), let userID = accounts.userID(Self.daemonName) else { return [] }
        if socket.mayReadAndWrite(userID: userID, groupIDs: accounts.groupIDs(ofUser: Self.daemonName)) { return [] }
        return [
            Finding(
                .adapter, .error, "\(Self.daemonName) may not connect to the payment adapter at \(path)",
                remedy: "have the adapter make it with group nfc-tap-psp and mode 0660")
        ]
    }

    /// The key that card data is sealed to.
    func recipientKey() -> [Finding] {
        guard let path = settings.recipientKey else {
            guard isInstalled, configurationText != nil else { return [] }
            return [
                Finding(
                    .recipientKey, .warning, "card data is sealed to a published test key, which protects nothing",
                    remedy: "set recipient-key in [psp] of \(configurationPath) to your payment service's JWK; "
                        + "until then use test cards only")
            ]
        }
        guard let jwk = tree.bytes(path) else {
            let severity = userID == 0 ? Finding.Severity.error : .note
            return [
                Finding(
                    .recipientKey, severity, "the recipient key \(path) cannot be read",
                    remedy: "check the name, and that \(Self.daemonName) may read it")
            ]
        }
        do throws(RecipientKeyError) {
            return keyFindings(try RecipientKey(jwk: jwk), path)
        } catch {
            let isPrivate = error == .privateKey
            return [
                Finding(
                    .recipientKey, .error, "the recipient key \(path) cannot be used: \(error)",
                    remedy: isPrivate
                        ? "remove it from this machine at once, and ask your payment service for a new key"
                        : "install the JWK that your payment service gave you")
            ]
        }
    }

    private func keyFindings(_ key: RecipientKey, _ path: String) -> [Finding] {
        let renew = "install a newer JWK of your payment service as \(path), and restart \(Self.daemonName)"
        var findings: [Finding] = []
        let seconds = UInt64(max(0, now))
        do throws(RecipientKeyError) { try key.checkPeriod(at: seconds) } catch {
            findings.append(Finding(.recipientKey, .error, "the recipient key \(path): \(error)", remedy: renew))
        }
        let fortnight: UInt64 = 14 * 24 * 60 * 60
        if let expires = key.expires, expires > seconds, expires - seconds < fortnight {
            let days = (expires - seconds) / (24 * 60 * 60)
            findings.append(
                Finding(.recipientKey, .warning, "the recipient key \(path) expires in \(days) days", remedy: renew))
        }
        if key.isTest {
            findings.append(
                Finding(
                    .recipientKey, .warning,
                    "the recipient key \(path) is a published test key, which protects nothing",
                    remedy: "install the JWK of your payment service; until then use test cards only"))
        }
        return findings
    }
}
