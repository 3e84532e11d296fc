// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
package import Logging
import POSAPI
import PaymentValues
import Synchronization

/// Browsers and programs on one side, the daemon on the other. It keeps who may ask, and nothing of any payment: what it is asked
/// goes to the daemon as it is, under the till's name.
package final class Gateway: Sendable {
    struct State {
        var book: TillRegistry
        var desk = PairingCodes()
        var limits: RateLimits
        var failures = FailureWindow()
        var refusals = RefusalLedger()
        /// The daemon's lanes, and when they were asked for.
        var lanes: (known: [KnownLane], at: UInt64)?
    }

    let door: RequestGuard
    let pages: Pages
    /// Where the pages were read.
    let pagesFolder: String
    let upstream: Upstream
    let fanOut = EventFanOut()
    let displays: DisplayHub
    let state: Mutex<State>
    let logger: Logger
    private let file: TillFile
    /// Its pages' address, for people.
    package let home: String

    /// - Parameters:
    ///   - addresses: where it listens.
    ///   - folder: where the tills are kept.
    package init(_ settings: GatewayFile, addresses: [String], folder: String, logger: Logger) throws(GatewayError) {
        file = TillFile(folder: folder)
        let limits = RateLimits(requests: settings.requestsPerSecond, creates: settings.createsPerSecond)
        state = Mutex(State(book: try file.load(), limits: limits))
        door = RequestGuard(addresses: addresses, names: settings.hosts, origins: settings.origins)
        pages = Pages(folder: settings.pages)
        pagesFolder = settings.pages
        upstream = Upstream(path: settings.socket)
        displays = DisplayHub(upstream: upstream)
        home = "http://\(addresses.first ?? "127.0.0.1:\(GatewayFile.port)")"
        self.logger = logger
        if pages.isEmpty { logger.warning("no pages", metadata: ["folder": "\(settings.pages)"]) }
    }

    /// Follows the daemon's events and tells it of refusals, until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followEvents() }
            group.addTask { await self.report() }
            group.addTask { await self.tellDisplays() }
        }
    }

    /// Changes the tills, in the file first: what it does not take has not happened.
    ///
    /// - Returns: `nil` where nothing was to be changed.
    func changeBook<Value: Sendable>(_ change: (inout TillRegistry) -> Value?) throws(GatewayError) -> Value? {
        let outcome = state.withLock { state -> Result<Value?, GatewayError> in
            var book = state.book
            guard let value = change(&book) else { return .success(nil) }
            do throws(GatewayError) { try file.save(book) } catch { return .failure(error) }
            state.book = book
            return .success(value)
        }
        return try outcome.get()
    }

    func note(_ code: ErrorCode, till: String?) {
        guard RefusalLedger.isOfNote(code) else { return }
        // At this level once for each report: a flood does not fill the log either.
        logger.debug("refused", metadata: ["code": "\(code.rawValue)", "till": "\(till ?? "-")"])
        state.withLock { $0.refusals.note(code, till: till) }
    }

    // MARK: - The daemon's events

    private func followEvents() async {
        var cursor: String?
        while !Task.isCancelled {
            do throws(HTTPClientError) {
                let stream = try await upstream.events(after: cursor)
                fanOut.connected()
                logger.notice("daemon reached")
                await displays.connected()
                for try await message in stream {
                    if let id = message.id { cursor = id }
                    guard let event = try? WireJSON.decode(Event.self, from: Array(message.data.utf8)) else { continue }
                    fanOut.arrived(event)
                    displays.happened(event, on: lanes(of: event.till))
                }
            } catch {
                logger.debug("no events", metadata: ["error": "\(error)"])
            }
            if fanOut.isUp { logger.warning("daemon away") }
            fanOut.lost()
            displays.lost()
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func lanes(of till: TillName?) -> [String] {
        guard let till else { return [] }
        return state.withLock { $0.book.tills[till.text]?.lanes ?? [] }
    }

    // MARK: - Displays

    /// Tells the daemon on which lanes customers are shown their amounts: at once where that changes or the daemon is there again, and every
    /// fifteen seconds as long as there is one.
    private func tellDisplays() async {
        var (told, reminder) = ([String](), Task<Void, Never>?.none)
        defer { reminder?.cancel() }
        for await _ in displays.news {
            reminder?.cancel()
            let lanes = displays.shownLanes
            if !lanes.isEmpty { reminder = displays.remind(in: .seconds(15)) }
            guard !lanes.isEmpty || !told.isEmpty, let body = try? WireJSON.encode(DisplayReport(lanes: lanes)) else {
                continue
            }
            let request = HTTPClientRequest(
                .post, "/v1/displays", fields: ["Content-Type": "application/json"], body: body)
            // An older daemon knows nothing of it, and needs not.
            if (try? await upstream.ask(request)) != nil { told = lanes }
        }
    }

    // MARK: - Refusals

    /// Tells the daemon what was refused, as often as it takes it.
    private func report() async {
        var pause = Duration.seconds(1)
        while (try? await Task.sleep(for: pause)) != nil {
            pause = .seconds(1)
            let report = state.withLock { $0.refusals.take() }
            guard !report.refusals.isEmpty else { continue }
            guard let body = try? WireJSON.encode(report) else { continue }
            let request = HTTPClientRequest(
                .post, "/v1/refusals", fields: ["Content-Type": "application/json"], body: body)
            let answer = try? await upstream.ask(request)
            if let answer, answer.status / 100 == 2 {
                let count = report.refusals.reduce(0) { $0 + $1.count }
                let codes = Set(report.refusals.map(\.code.rawValue)).sorted().joined(separator: ", ")
                logger.notice("refused", metadata: ["count": "\(count)", "codes": "\(codes)"])
                continue
            }
            // Counted on until it takes some again.
            pause = .seconds(30)
            state.withLock { $0.refusals.putBack(report) }
            if answer?.status == 429 { continue }
            logger.warning("refusals not told", metadata: ["status": "\(answer?.status ?? 0)"])
        }
    }
}
