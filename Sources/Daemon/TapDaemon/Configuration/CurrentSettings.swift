// SPDX-License-Identifier: Apache-2.0
import Configuration
import POSAPI
import PaymentValues
import Settings
import Synchronization

/// The configuration that is in force at one moment. It never changes: whoever needs more than one setting of it, or the
/// same one later, keeps the snapshot it began with.
@dynamicMemberLookup
final class ConfigurationSnapshot: Sendable {
    let configuration: DaemonConfiguration

    init(_ configuration: DaemonConfiguration) { self.configuration = configuration }

    var access: Access { configuration.access }
    var offer: LoyaltyOffer { configuration.offer }
    var surroundings: DaemonConfiguration.Surroundings { configuration.surroundings }
    /// The shop as its receipts name it where no profile does.
    var shop: Merchant { configuration.file.merchant ?? configuration.file.terminal.defaultMerchant }

    /// A setting of the file.
    subscript<Value>(dynamicMember member: KeyPath<ConfigurationFile, Value>) -> Value {
        configuration.file[keyPath: member]
    }
}

/// Where the snapshot in force is: the only owner of every setting. Each request and each transaction asks once.
final class CurrentSettings: Sendable {
    private struct State {
        var snapshot: ConfigurationSnapshot
        var status: ConfigurationStatus
    }

    private let state: Mutex<State>

    init(_ configuration: DaemonConfiguration) {
        state = Mutex(
            State(
                snapshot: ConfigurationSnapshot(configuration), status: ConfigurationStatus(loadedAt: .now)))
    }

    var snapshot: ConfigurationSnapshot { state.withLock { $0.snapshot } }
    var status: ConfigurationStatus { state.withLock { $0.status } }

    /// Puts a new configuration in force, as far as it can change while the daemon runs.
    ///
    /// - Returns: settings that count from the next start only.
    func replace(with new: DaemonConfiguration) -> [String] {
        state.withLock { state in
            let before = state.snapshot.configuration
            let later = before.settingsForRestart(against: new)
            state.snapshot = ConfigurationSnapshot(new.keepingStart(of: before))
            state.status = ConfigurationStatus(loadedAt: .now, needsRestart: later.isEmpty ? nil : later)
            return later
        }
    }

    func refuse(_ error: ConfigurationError) {
        state.withLock { $0.status.error = error.description }
    }
}

extension DaemonConfiguration {
    /// What differs and cannot change while the daemon runs.
    func settingsForRestart(against new: DaemonConfiguration) -> [String] {
        let (old, new) = (file, new.file)
        var settings: [String] = []
        if new.mode != old.mode { settings.append("mode") }
        if new.profile?.key != old.profile?.key { settings.append("profile.key") }
        if new.profile?.file != nil || old.profile?.file != nil { settings.append("profile.file") }
        if new.journal.directory != old.journal.directory { settings.append("journal.directory") }
        if new.journal.retention != old.journal.retention { settings.append("journal") }
        if new.support != old.support { settings.append("support") }
        var places = new.pos.places
        places.relayed = old.pos.places.relayed
        if places != old.pos.places { settings.append("pos") }
        if new.pos.places.relayed != old.pos.places.relayed { settings.append("gateway.connections") }
        return settings
    }

    /// The same with what the daemon was started with where that cannot change while it runs.
    func keepingStart(of before: DaemonConfiguration) -> DaemonConfiguration {
        var kept = self
        kept.surroundings = before.surroundings
        kept.file.journal = before.file.journal
        kept.file.support = before.file.support
        // Another key is another payment service.
        kept.file.profile = before.file.profile
        kept.file.profile?.acknowledgement = file.profile?.acknowledgement
        guard file.mode != before.file.mode else { return kept }
        kept.file.mode = before.file.mode
        // Keys, stored payments, programmes and what is for test mode only were checked for the other mode.
        kept.file.adapter.recipient = before.file.adapter.recipient
        kept.file.offline = before.file.offline
        kept.file.formerServices = before.file.formerServices
        kept.file.pinDevices = before.file.pinDevices
        kept.file.loyalty = before.file.loyalty
        kept.file.diagnostics = before.file.diagnostics
        kept.offer = before.offer
        return kept
    }
}
