// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
import PaymentValues

/// The daemon's events, one after the other, over restarts and lost connections; see ``TapClient/events(after:maximumOutage:)``.
///
/// Each iteration is a subscription of its own. It ends only by an error or by the cancellation of its task.
public struct TapEvents: AsyncSequence, Sendable {
    public typealias Element = Event
    public typealias Failure = TapClientError

    let client: HTTPClient
    let cursor: UInt64?
    let answerTime: Duration
    let maximumOutage: Duration

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            client: client, cursor: cursor, answerTime: answerTime,
            outage: Outage(of: client.path, maximum: maximumOutage))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let client: HTTPClient
        /// What to ask the next connection to begin after.
        fileprivate var cursor: UInt64?
        fileprivate let answerTime: Duration
        fileprivate var outage: Outage
        private var stream: EventStream.AsyncIterator?
        private var hasBegun = false
        /// The highest that the daemon has not refused; 1 is asked for without a name.
        private var vocabulary = EventName.newestVocabulary

        fileprivate init(client: HTTPClient, cursor: UInt64?, answerTime: Duration, outage: Outage) {
            self.client = client
            self.cursor = cursor
            self.answerTime = answerTime
            self.outage = outage
        }

        /// The next event that this version knows; `nil` when the task is cancelled.
        public mutating func next() async throws(TapClientError) -> Event? {
            while !Task.isCancelled {
                switch await received() {
                case .success(let message?):
                    outage.isOver()
                    if let event = take(message) { return event }
                case .success(nil):
                    // The end of a stream: the daemon stops, or this client was too slow. Both go on elsewhere.
                    try await reconnectLater(.noAnswer(.closed))
                case .failure(let error): try await reconnectLater(error)
                }
            }
            return nil
        }

        private mutating func received() async -> Result<ServerSentEvent?, HTTPClientError> {
            do throws(HTTPClientError) {
                var stream = try await openStream()
                let message = try await stream.next()
                self.stream = stream
                return .success(message)
            } catch {
                return .failure(error)
            }
        }

        private mutating func openStream() async throws(HTTPClientError) -> EventStream.AsyncIterator {
            if let stream { return stream }
            while vocabulary > 1 {
                do throws(HTTPClientError) {
                    return try await openStream("/v1/events?vocabulary=\(vocabulary)")
                } catch {
                    // An older daemon knows the ones before it; one from before there were any knows no such parameter.
                    guard case .badAnswer(.refused(let answer)) = error, answer.status == 400 else { throw error }
                    vocabulary -= 1
                }
            }
            return try await openStream("/v1/events")
        }

        private func openStream(_ target: String) async throws(HTTPClientError) -> EventStream.AsyncIterator {
            var request = HTTPClientRequest(.get, target)
            if let cursor { request.fields.set("Last-Event-ID", String(cursor)) }
            return try await client.events(request, answerWithin: answerTime).makeAsyncIterator()
        }

        /// A daemon that was never there is reported at once; one that was is given time to come back.
        private mutating func reconnectLater(_ error: HTTPClientError) async throws(TapClientError) {
            let wasOpen = stream != nil
            stream = nil
            // Whoever answers next may be a newer daemon.
            vocabulary = EventName.newestVocabulary
            if Task.isCancelled { return }
            guard hasBegun || wasOpen else { throw TapClientError(error, at: client.path) }
            hasBegun = true
            do throws(TapClientError) {
                try await outage.wait(after: error)
            } catch {
                if !Task.isCancelled { throw error }
            }
        }

        /// Notes how far the stream has come, also past an event that a newer daemon has and this version does not.
        private mutating func take(_ message: ServerSentEvent) -> Event? {
            hasBegun = true
            if let id = message.id.flatMap({ UInt64($0) }) { cursor = id }
            if message.name == "overflow" { return nil }
            do throws(WireError) {
                return try WireJSON.decode(Event.self, from: Array(message.data.utf8))
            } catch {
                return nil
            }
        }
    }
}
