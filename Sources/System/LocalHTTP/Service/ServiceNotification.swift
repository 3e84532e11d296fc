// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// Tells the service manager how this process is doing (sd_notify(3)), without libsystemd.
public struct ServiceNotification: Sendable {
    public enum State: Equatable, Sendable {
        /// Started, or a reload finished.
        case ready
        /// Configuration is being read again; `ready` ends it. Carries `CLOCK_MONOTONIC`, as `Type=notify-reload` wants.
        case reloading
        case stopping
        /// Still alive: to be sent within `watchdogInterval`.
        case watchdog
        /// One line for `systemctl status`.
        case status(String)

        var assignment: String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(MachineClock.awake / 1_000)"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
            }
        }
    }

    /// Half of the time after which the manager takes this process for hung; `nil` where it does not watch.
    public let watchdogInterval: Duration?
    private let socketName: String?

    /// From `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    public init() {
        self.init(environment: { Environment.value($0) })
    }

    init(environment: (String) -> String?) {
        socketName = environment("NOTIFY_SOCKET")
        let isForUs = environment("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        let limit = environment("WATCHDOG_USEC").flatMap { Int64($0) }
        watchdogInterval = limit.flatMap { isForUs && $0 > 0 ? .microseconds($0 / 2) : nil }
    }

    /// Sends all of `states` in one message. `false` where no manager listens; nothing depends on it then.
    @discardableResult
    public func send(_ states: State...) -> Bool {
        guard let address = socketName.flatMap({ UnixAddress(notifySocket: $0) }) else { return false }
        guard let socket = try? Descriptor.unixDatagram() else { return false }
        let message = Array(states.map(\.assignment).joined(separator: "\n").utf8)
        return address.send(message, from: socket.number)
    }
}
