import Settings
import Synchronization
import Wire

/// The configuration that is in force: read anew for each request and each transaction, so that what runs keeps its own.
final class CurrentSettings: Sendable {
    private struct State {
        var configuration: DaemonConfiguration
        var status: ConfigurationStatus
    }

    private let state: Mutex<State>

    init(_ configuration: DaemonConfiguration) {
        state = Mutex(State(configuration: configuration, status: ConfigurationStatus(loadedAt: .now)))
    }

    var configuration: DaemonConfiguration { state.withLock { $0.configuration } }
    var status: ConfigurationStatus { state.withLock { $0.status } }
    var access: Access { configuration.access }
    var terminal: Terminal { configuration.terminal }

    /// - Returns: settings that count from the next start only.
    func replace(with new: DaemonConfiguration) -> [String] {
        state.withLock { state in
            let later = state.configuration.settingsForRestart(against: new)
            state.configuration = new
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
        var settings: [String] = []
        if new.mode != mode { settings.append("mode") }
        if new.profile?.key != profile?.key { settings.append("profile.key") }
        if new.profile?.file != nil || profile?.file != nil { settings.append("profile.file") }
        if new.stateDirectory != stateDirectory { settings.append("journal.directory") }
        if new.retention != retention { settings.append("journal") }
        if new.support != support { settings.append("support") }
        return settings
    }
}
