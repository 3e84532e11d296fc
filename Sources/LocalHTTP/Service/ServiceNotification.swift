import Glibc

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
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds())"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
            }
        }

        private static func monotonicMicroseconds() -> UInt64 {
            var time = timespec()
            _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
        }
    }

    /// Half of the time after which the manager takes this process for hung; `nil` where it does not watch.
    public let watchdogInterval: Duration?
    private let socketName: String?

    /// From `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    public init() {
        self.init(environment: { name in unsafe getenv(name).map { unsafe String(cString: $0) } })
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
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        let message = Array(states.map(\.assignment).joined(separator: "\n").utf8)
        let sent = unsafe address.withSocketAddress { pointer, length in
            unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), pointer, length)
        }
        return sent == message.count
    }
}
