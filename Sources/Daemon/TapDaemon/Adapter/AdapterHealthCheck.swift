// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import Synchronization

/// Asks the adapter now and then how it is, so that the till knows before a card is read.
final class AdapterHealthCheck: Sendable {
    private let settings: CurrentSettings
    private let clock: ClockWatch
    private let logger: Logger
    /// Called whenever the payment service has been reached.
    private let onContact: @Sendable () async -> Void
    private let known = Mutex(Status.AdapterLink(state: .unknown))
    private let life = Mutex<(socket: String, keys: Duration)?>(nil)
    private let features = Mutex<(words: Set<String>, terminals: [String])?>(nil)
    /// Somebody wants to know now; and the next answer.
    private let wish = Mutex((now: OneShot(), answer: OneShot()))

    init(
        _ settings: CurrentSettings, clock: ClockWatch, logger: Logger,
        onContact: @escaping @Sendable () async -> Void = {}
    ) {
        self.settings = settings
        self.clock = clock
        self.logger = logger
        self.onContact = onContact
    }

    var state: Status.AdapterLink { known.withLock { $0 } }
    /// What the service can do, as it has said last; `nil` as long as it has said nothing.
    var supports: Set<String>? { features.withLock { $0?.words } }
    /// The terminals that it hands payments to.
    var terminals: [String] { features.withLock { $0?.terminals } ?? [] }

    /// How long the service keeps keys, as it has said last; `nil` as long as the one behind `socket` has said nothing, and
    /// then nothing may be sent to it again.
    func keyLife(at socket: String) -> Duration? { life.withLock { $0?.socket == socket ? $0?.keys : nil } }

    /// Asks until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let now = wish.withLock { wish in
                if wish.now.hasFired { wish.now = OneShot() }
                return wish.now
            }
            await ask()
            let answer = wish.withLock { wish in
                defer { wish.answer = OneShot() }
                return wish.answer
            }
            answer.fire()
            let interval = settings.snapshot.surroundings.healthInterval
            // A down adapter is asked again soon: somebody may be starting it.
            await now.wait(atMost: state.state == .up ? interval : min(interval, .seconds(1)))
        }
    }

    /// Has the adapter asked now, unless it was within the last second, and waits for what comes of it.
    func look(atMost limit: Duration) async {
        let age = state.checkedAt.map { Timestamp.now.milliseconds - $0.milliseconds }
        if let age, (0..<1_000).contains(age) { return }
        let (now, answer) = wish.withLock { $0 }
        now.fire()
        await answer.wait(atMost: limit)
    }

    /// Has the adapter asked soon: after a profile has come, and after a payment that it did not take or answer.
    func hasten() { wish.withLock { $0.now }.fire() }

    private func ask() async {
        let adapter = settings.snapshot.adapter
        let health = await adapter.health()
        let isUp = health != nil
        // A degraded adapter works, but has not reached the payment service.
        if let health {
            life.withLock { $0 = (adapter.client.path, health.keyLifetime) }
            features.withLock { $0 = (Set(health.supports), health.usableTerminals) }
        }
        if health?.status == .ok { await onContact() }
        if let time = health?.serviceTime { clock.heard(time) }
        let before = known.withLock { known in
            defer { known = Status.AdapterLink(state: isUp ? .up : .down, checkedAt: .now) }
            return known.state
        }
        guard before != (isUp ? .up : .down) else { return }
        if isUp { logger.info("adapter reachable") } else { logger.warning("adapter not reachable") }
    }
}
