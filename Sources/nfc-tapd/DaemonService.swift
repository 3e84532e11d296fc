import LocalHTTP
import ServiceLifecycle
import TapDaemon

/// The daemon under the service group: tells systemd when it is ready, still alive and stopping.
struct DaemonService: Service {
    let daemon: Daemon
    let notification: ServiceNotification

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await daemon.run() }
                if let interval = notification.watchdogInterval {
                    group.addTask { await keepAlive(every: interval) }
                }
                notification.send(.ready, .status("taking transactions"))
                try await group.next()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            notification.send(.stopping)
            daemon.shutDown()
        }
    }

    private func keepAlive(every interval: Duration) async {
        while !Task.isCancelled {
            notification.send(.watchdog)
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }
}
