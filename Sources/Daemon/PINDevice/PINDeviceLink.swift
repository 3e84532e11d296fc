// SPDX-License-Identifier: Apache-2.0
public import Configuration
import LocalHTTP
public import PINDeviceAPI
public import PaymentValues

/// The way to a PIN device: its driver's socket, with us as its client. Moves what the device gives and looks at none of it.
public struct PINDeviceLink: Sendable {
    private let client: HTTPClient
    /// For an answer that nobody has to press a key for.
    private static let answerTime: Duration = .seconds(2)
    /// For each question about an entry.
    private static let waitTime = 10
    /// Before the next one: a driver that does not wait is not asked at full speed.
    private static let pause: Duration = .milliseconds(100)

    public init(_ settings: PINDeviceSettings) {
        var client = HTTPClient(path: settings.socket)
        client.connectTime = .seconds(2)
        client.maximumAnswerBytes = 16 << 10
        self.client = client
    }

    /// What the device says of itself; `nil` where nobody answers.
    public func status() async -> PINDeviceStatus? {
        await answer(HTTPClientRequest(.get, "/v1/device"), 200, within: Self.answerTime)
    }

    /// Has the customer asked, and waits for what comes of it.
    ///
    /// - Returns: an entry that has ended; `nil` where the device was lost, or has no end within `time`.
    public func entry(
        _ request: PINEntryRequest, within time: Duration, by clock: some Clock<Duration> = ContinuousClock()
    ) async -> PINEntry? {
        guard let body = try? WireJSON.encode(request) else { return nil }
        let end = clock.now.advanced(by: time)
        var fields = HTTPFields()
        fields.set("Content-Type", "application/json")
        fields.set("Idempotency-Key", request.id.text)
        let begin = HTTPClientRequest(.post, "/v1/pin-entries", fields: fields, body: body)
        var entry: PINEntry? = await answer(begin, 201, within: Self.answerTime)
        var pause = Duration.zero
        while let running = entry, running.id == request.id {
            guard running.state == .waiting || running.state == .entering else { return running }
            try? await clock.sleep(for: pause)
            pause = Self.pause
            let left = clock.now.duration(to: end)
            guard left > .zero, !Task.isCancelled else { return nil }
            let seconds = min(Int64(Self.waitTime), max(1, left.components.seconds))
            let question = HTTPClientRequest(.get, "/v1/pin-entries/\(request.id.text)?wait=\(seconds)")
            entry = await answer(question, 200, within: .seconds(seconds) + Self.answerTime)
        }
        return nil
    }

    /// The device stops to ask. Whether it hears it or not, its own time ends the entry.
    public func withdraw(_ id: PINAttemptID) async {
        let request = HTTPClientRequest(.delete, "/v1/pin-entries/\(id.text)")
        _ = try? await client.send(request, answerWithin: Self.answerTime)
    }

    private func answer<Message: Decodable>(
        _ request: HTTPClientRequest, _ status: Int, within time: Duration
    ) async -> Message? {
        guard let answer = try? await client.send(request, answerWithin: time), answer.status == status else {
            return nil
        }
        return try? WireJSON.decode(Message.self, from: answer.body)
    }
}
