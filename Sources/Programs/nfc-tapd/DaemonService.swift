// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import ServiceLifecycle
import TapDaemon
import UnixSignals

/// The daemon under the service group: tells systemd when it is ready, how it is, still alive and stopping; reads its
/// configuration again at SIGHUP.
struct DaemonService: Service, CustomStringConvertible {
    let daemon: Daemon
    let notification: ServiceNotification
    let pause: StartPause
    let isMemoryLocked: Bool
    let reload: @Sendable () async -> Void

    /// The service group's name for it. Without one it has all of this printed by reflection, which takes a start a millisecond.
    var description: String { "nfc-tapd" }

    func run() async throws {
        // Trapped before anybody is told that the daemon is there: by default the signal ends a process.
        let signals = await UnixSignalsSequence(trapping: .sighup)
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await daemon.run() }
                if let interval = notification.watchdogInterval {
                    group.addTask { await keepAlive(every: interval) }
                }
                notification.send(.ready, .status("taking transactions"))
                group.addTask {
                    for await _ in signals { await reloadOnce() }
                }
                group.addTask { await tellStatus() }
                group.addTask { await callItARun() }
                try await group.next()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            notification.send(.stopping)
            pause.forget()
            daemon.shutDown()
        }
    }

    /// A daemon that lasts has not failed to start. Comes back at the end only: whoever does ends all the others.
    private func callItARun() async {
        do {
            try await Task.sleep(for: StartPause.goodRun)
            pause.forget()
            while true { try await Task.sleep(for: .seconds(86_400)) }
        } catch { return }
    }

    private func reloadOnce() async {
        notification.send(.reloading)
        await reload()
        notification.send(.ready, .status(await daemon.summary()))
    }

    /// One line for `systemctl status`, whenever it is another one.
    private func tellStatus() async {
        var told = ""
        var isStart = true
        while !Task.isCancelled {
            let summary = await daemon.summary()
            if summary != told { notification.send(.status(summary)) }
            told = summary
            do { try await Task.sleep(for: .seconds(2)) } catch { return }
            // Best effort: without it the daemon works as well, in more memory.
            if isStart { _ = ProcessHardening.releaseStartCode(lockingAgain: isMemoryLocked) }
            isStart = false
        }
    }

    /// Says so only where it is: a store or a journal that hangs is not alive.
    private func keepAlive(every interval: Duration) async {
        while !Task.isCancelled {
            await daemon.pulse()
            notification.send(.watchdog)
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }
}
