// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import LocalHTTP
import Logging
import PaymentValues

/// One output: its outbox on disk, and the way to its receiver.
actor OutputPort {
    nonisolated let output: HubFile.Output
    private let file: OutboxFile
    private var outbox: Outbox
    private let logger: Logger
    private let client: HTTPClient?
    private var keyboard: VirtualKeyboard?
    private nonisolated let inputs: AsyncStream<Input>
    private nonisolated let feed: AsyncStream<Input>.Continuation
    /// Of the connections to a broker.
    private var generation: UInt64 = 0
    private var line: ByteLine?
    private var session: MQTTSession?
    private var isReady = false
    private var retry = Retry()
    private var toldOfTrouble = false
    /// Numbers that were sent in this run, and not acknowledged.
    private var sent: UInt64?

    private enum Input: Sendable {
        /// Something was added, or some time is over.
        case bell
        case bytes([UInt8], of: UInt64)
        case lost(UInt64)
    }

    /// When the next connection is tried, and the pause before it, in milliseconds.
    private struct Retry {
        private static let longestPause: UInt64 = 30_000
        var pause: UInt64 = 0
        var at: UInt64 = 0

        /// Doubles the pause.
        mutating func fail(at now: UInt64) {
            pause = min(max(500, pause &* 2), Self.longestPause)
            at = now &+ pause
        }
    }

    /// Name of the outbox's file.
    static func outbox(of output: String) -> String { "\(output).outbox" }

    /// - Throws: where the outbox cannot be used.
    init(_ output: HubFile.Output, in directory: String, _ logger: Logger) throws(OutboxFile.Failure) {
        let (file, outbox, damaged) = try OutboxFile.open(
            "\(directory)/\(Self.outbox(of: output.name))", life: output.life)
        var logger = logger
        logger[metadataKey: "output"] = "\(output.name)"
        if damaged > 0 { logger.error("outbox damaged: taps are lost", metadata: ["lines": "\(damaged)"]) }
        if !outbox.dead.isEmpty {
            logger.warning("taps that the receiver refused are kept", metadata: ["count": "\(outbox.dead.count)"])
        }
        self.file = file
        self.outbox = outbox
        self.output = output
        self.logger = logger
        (inputs, feed) = AsyncStream<Input>.makeStream()
        switch output.receiver {
        case .mqtt, .keyboard: client = nil
        case .webhook(let place, _):
            var client =
                switch place.line {
                case .proxy(let path): HTTPClient(path: path)
                case .loopback(let address): HTTPClient(loopback: address)
                }
            client.wantsHeadOnly = true
            self.client = client
        }
        self.outbox.begin(wall: Timestamp.now.milliseconds, now: Self.now)
    }

    private static var now: UInt64 { MachineClock.all / 1_000_000 }

    /// Takes a tap; it is on the disk afterwards. One that is here already is not taken twice.
    ///
    /// - Throws: where it could not be written.
    func add(_ tap: HubTap) throws(OutboxFile.Failure) {
        let text: String =
            switch output.receiver {
            case .mqtt: tap.message
            case .webhook: tap.body
            case .keyboard: tap.member
            }
        let line: Outbox.Line
        do throws(Outbox.Refusal) {
            line = try outbox.add(id: tap.id, body: text, wall: Timestamp.now.milliseconds, now: Self.now)
        } catch {
            if error == .full { logger.error("outbox full, tap lost: look at the receiver") }
            return
        }
        do throws(OutboxFile.Failure) { try file.write([line], isSynced: true) } catch {
            outbox.withdraw(tap.id)
            throw error
        }
        feed.yield(.bell)
    }

    /// What waits, and what ended how.
    var summary: (waiting: Int, dead: Int) { (outbox.waiting.count, outbox.dead.count) }

    /// Sends until the task is cancelled.
    ///
    /// - Throws: where the outbox cannot be written.
    func run() async throws(OutboxFile.Failure) {
        var failure: OutboxFile.Failure?
        let timer = AlarmBell { [feed] in feed.yield(.bell) }
        await withTaskCancellationHandler {
            feed.yield(.bell)
            for await input in inputs {
                do throws(OutboxFile.Failure) {
                    timer.ring(at: try await handle(input))
                } catch {
                    failure = error
                    break
                }
                if Task.isCancelled { break }
            }
        } onCancel: {
            feed.finish()
        }
        timer.stop()
        if let session = session.take() {
            var session = session
            _ = line?.send(session.close())
        }
        line?.finish()
        if let failure { throw failure }
    }

    /// - Returns: when to look again, in milliseconds.
    private func handle(_ input: Input) async throws(OutboxFile.Failure) -> UInt64? {
        switch output.receiver {
        case .webhook(let place, let keys): return try await post(place, keys)
        case .mqtt(let broker, let settings): return try publish(input, broker, settings)
        case .keyboard(let settings): return try await type(settings)
        }
    }

    private func write(_ lines: [Outbox.Line]) throws(OutboxFile.Failure) {
        guard !lines.isEmpty else { return }
        // Sent once more where this is lost.
        try file.write(lines, isSynced: false)
        for case .ended(_, let end) in lines where end != .done {
            let level: Logger.Level = end == .expired ? .notice : .error
            logger.log(level: level, "tap not delivered", metadata: ["why": "\(end.rawValue)"])
        }
        try file.renew(outbox)
    }

    // MARK: - Webhooks

    private func post(_ place: WebhookPlace, _ keys: [WebhookKey]) async throws(OutboxFile.Failure) -> UInt64? {
        while true {
            let (lines, turn) = outbox.turn(now: Self.now)
            try write(lines)
            guard case .send(let item) = turn else {
                if case .wait(let time) = turn { return time }
                return nil
            }
            let answer = await answer(to: item, place, keys)
            if Task.isCancelled, answer != .done { return nil }
            if answer == .stop {
                logger.error("the receiver wants no more (410): taps wait, restart after it is mended")
            }
            tell(isTrouble: answer != .done)
            try write(
                outbox.answered(item.number, answer, now: Self.now, jitter: .random(in: -1...1)))
        }
    }

    private func answer(to item: Outbox.Item, _ place: WebhookPlace, _ keys: [WebhookKey]) async -> Outbox.Answer {
        guard let client else { return .stop }
        let (id, seconds, body) = ("msg_\(item.id)", Timestamp.now.milliseconds / 1_000, Array(item.body.utf8))
        var request = HTTPClientRequest(.post, place.target, body: body)
        request.authority = place.authority
        request.fields = [
            "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": "\(seconds)",
            "webhook-signature": WebhookKey.signatures(keys, id: id, timestamp: seconds, body: body),
        ]
        do throws(HTTPClientError) {
            let answer = try await client.send(request, answerWithin: .seconds(WebhookAnswer.seconds))
            return WebhookAnswer.meaning(answer.status, retryAfter: answer.fields.only("Retry-After"))
        } catch {
            return WebhookAnswer.meaning(nil)
        }
    }

    // MARK: - Keyboard

    /// Types each tap once at most: half a number, or a number twice, is worse than a card that is tapped again.
    private func type(_ settings: KeyboardSettings) async throws(OutboxFile.Failure) -> UInt64? {
        guard Self.now >= retry.at else { return retry.at }
        guard let keyboard else { return attach() }
        while !Task.isCancelled {
            let (lines, turn) = outbox.turn(now: Self.now)
            try write(lines)
            guard case .send(let item) = turn else {
                if case .wait(let time) = turn { return time }
                return nil
            }
            guard let events = settings.events(for: item.body) else {
                try write(outbox.answered(item.number, .refused, now: Self.now))
                continue
            }
            try write(outbox.answered(item.number, .done, now: Self.now))
            do throws(SystemError) {
                for event in events {
                    try keyboard.change(event.code, isDown: event.isDown)
                    // A task of its own, so that a stop cuts no text.
                    await Task { try? await Task.sleep(for: .milliseconds(KeyboardSettings.pace)) }.value
                }
            } catch {
                self.keyboard = nil
                logger.error("tap not delivered", metadata: ["why": "\(error)"])
                return attach()
            }
        }
        return nil
    }

    /// Makes the keyboard, so that the desktop has it when the first tap comes.
    ///
    /// - Returns: when to look again, in milliseconds.
    private func attach() -> UInt64 {
        do throws(SystemError) {
            keyboard = try VirtualKeyboard(name: "nfc-tap \(output.name)", keys: KeyboardLayout.codes)
            retry.pause = 0
            retry.at = Self.now &+ KeyboardSettings.settling
            tell(isTrouble: false)
        } catch {
            retry.fail(at: Self.now)
            let isMissing = [ENOENT, ENODEV, ENXIO].contains(error.code)
            tell(isTrouble: true, "/dev/uinput: \(isMissing ? "the kernel has none: modprobe uinput" : error.remedy)")
        }
        return retry.at
    }

    // MARK: - MQTT

    private func publish(
        _ input: Input, _ broker: TCPAddress, _ settings: MQTTSession.Settings
    ) throws(OutboxFile.Failure) -> UInt64? {
        switch input {
        case .bell: break
        case .bytes(let bytes, let generation) where generation == self.generation:
            try perform(session?.received(bytes, now: Self.now) ?? [])
        case .lost(let generation) where generation == self.generation: try drop("the broker has gone")
        case .bytes, .lost: return nil
        }
        if session == nil, Self.now >= retry.at { try connect(broker, settings) }
        if let session, Self.now >= session.deadline {
            try perform(self.session?.clock(now: Self.now) ?? [])
        }
        var due: UInt64?
        if isReady {
            let (lines, turn) = outbox.turn(now: Self.now)
            try write(lines)
            switch turn {
            case .send(let item):
                isReady = false
                let isRepeated = item.attempts > 0 || sent == item.number
                sent = item.number
                // Should it be cut here, the next run sends it as a repetition.
                try file.write([.tried(item.number, 1)], isSynced: false)
                try perform(
                    session?.publish(item.body, number: item.number, isRepeated: isRepeated, now: Self.now) ?? [])
            case .wait(let time): due = time
            }
        }
        return min(due ?? .max, session?.deadline ?? retry.at)
    }

    private func connect(_ broker: TCPAddress, _ settings: MQTTSession.Settings) throws(OutboxFile.Failure) {
        generation &+= 1
        let generation = generation
        do throws(SystemError) {
            let line = ByteLine(socket: try Descriptor.connected(to: broker))
            try PrivateThread.start(named: "mqtt-\(output.name)") { [feed] in
                while true {
                    guard case .bytes(let bytes) = line.receive() else { break }
                    feed.yield(.bytes(bytes, of: generation))
                }
                feed.yield(.lost(generation))
            }
            let (session, first) = MQTTSession.open(settings, now: Self.now)
            (self.line, self.session) = (line, session)
            guard line.send(first) else { throw SystemError(code: EPIPE) }
        } catch {
            try drop("\(error)")
        }
    }

    private func perform(_ effects: [MQTTSession.Effect]) throws(OutboxFile.Failure) {
        for effect in effects {
            switch effect {
            case .send(let bytes): if line?.send(bytes) != true { return try drop("the broker takes nothing") }
            case .ready:
                isReady = true
                retry.pause = 0
                tell(isTrouble: false)
            case .done(let number):
                sent = nil
                try write(outbox.answered(number, .done, now: Self.now))
            case .close(let end): return try drop("\(end)")
            }
        }
    }

    /// The connection is over; what was on its way is sent again on the next one.
    private func drop(_ why: String) throws(OutboxFile.Failure) {
        if let sent { try write(outbox.answered(sent, .lost, now: Self.now)) }
        line?.finish()
        (line, session, isReady) = (nil, nil, false)
        retry.fail(at: Self.now)
        tell(isTrouble: true, why)
    }

    /// Once when it begins and once when it is over.
    private func tell(isTrouble: Bool, _ why: String = "") {
        guard isTrouble != toldOfTrouble else { return }
        toldOfTrouble = isTrouble
        if isTrouble {
            logger.warning("receiver not reached, taps wait", metadata: why.isEmpty ? [:] : ["why": "\(why)"])
        } else {
            logger.notice("receiver reached")
        }
    }
}
