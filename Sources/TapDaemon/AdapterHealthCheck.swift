import Logging
import Synchronization
import Wire

/// Asks the adapter now and then how it is, so that the till knows before a card is read.
final class AdapterHealthCheck: Sendable {
    private let adapter: AdapterLink
    private let interval: Duration
    private let logger: Logger
    private let known = Mutex(Status.AdapterLink(state: .unknown))

    init(_ adapter: AdapterLink, every interval: Duration, logger: Logger) {
        self.adapter = adapter
        self.interval = interval
        self.logger = logger
    }

    var state: Status.AdapterLink { known.withLock { $0 } }

    /// Asks until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await ask()
            // A down adapter is asked again soon: somebody may be starting it.
            let pause = state.state == .up ? interval : min(interval, .seconds(1))
            do { try await Task.sleep(for: pause) } catch { return }
        }
    }

    private func ask() async {
        let isUp = await adapter.isHealthy()
        let before = known.withLock { known in
            defer { known = Status.AdapterLink(state: isUp ? .up : .down, checkedAt: .now) }
            return known.state
        }
        guard before != (isUp ? .up : .down) else { return }
        if isUp { logger.info("adapter reachable") } else { logger.warning("adapter not reachable") }
    }
}
