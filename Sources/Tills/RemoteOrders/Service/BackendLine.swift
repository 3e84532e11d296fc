// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import PaymentValues
import StrictJSON

/// The way to a backend: polls and results over a proxy's socket.
struct BackendLine: Sendable {
    /// What came of a poll.
    enum Answer: Equatable, Sendable {
        /// - Parameter clockHolds: whether the backend's clock and this one agree, as far as it says.
        case orders([String: String], clockHolds: Bool)
        /// The backend does not know us.
        case refused
        /// Another machine polls with this identity, as far as a status 409 without another reason says.
        case twin
        case trouble(String)
    }

    private struct Sets: Decodable {
        var sets: [String: String]

        private enum Key: String, CodingKey { case sets }

        /// PHP writes an object without members as a list without elements.
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            let isEmptyList = (try? values.decode([String].self, forKey: .sets))?.isEmpty == true
            sets = isEmptyList ? [:] : try values.decodeIfPresent([String: String].self, forKey: .sets) ?? [:]
        }
    }

    /// RFC 8936 §2.6.
    private struct Fault: Decodable {
        var err: String?
    }

    /// The `err` of a 409 that says what one without any says.
    static let twinError = "another_boot"

    /// An order that is not taken, with what its backend is told of it.
    struct Refused: Sendable {
        var id: String
        var refusal: OrderRefusal
        var words: String
    }

    /// Orders in one answer, and bytes of it.
    static let most = 4
    static let longest = 64 * 1_024
    /// Seconds after which an answer to a poll is thrown away.
    static let limit: UInt64 = 30
    /// Seconds by which two clocks may differ.
    private static let tolerance: Int64 = 30

    private let backend: RemoteFile.Backend
    private let client: HTTPClient
    private let boot: String
    private let installation: String

    /// - Parameter boot: of this start of the program.
    init(_ backend: RemoteFile.Backend, boot: String, installation: String) {
        self.backend = backend
        self.boot = boot
        self.installation = installation
        var client = HTTPClient(path: backend.socket)
        client.maximumAnswerBytes = Self.longest
        self.client = client
    }

    /// Asks for orders, and says what became of those before.
    func poll(ack: [String], refusals: [Refused]) async -> Answer {
        let errors = refusals.map { refused in
            "\(JSONEscape.quoted(refused.id)):{\"err\":\"\(refused.refusal.rawValue)\",\"description\":\(JSONEscape.quoted(refused.words))}"
        }
        let body =
            "{\"maxEvents\":\(Self.most),\"returnImmediately\":false,\"ack\":[\(ack.map(JSONEscape.quoted).joined(separator: ","))],"
            + "\"setErrs\":{\(errors.joined(separator: ","))}}"
        var request = request("poll", Array(body.utf8))
        request.fields.set("Prefer", "wait=\(backend.wait)")
        let (began, sent) = (MachineClock.all, Timestamp.now)
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) {
            answer = try await client.send(request, answerWithin: .seconds(Int64(Self.limit)))
        } catch {
            return .trouble("\(error)")
        }
        // A machine that slept, or a process that was stopped, has noticed no time.
        guard MachineClock.all - began <= Self.limit * 1_000_000_000 else { return .trouble("answer too late") }
        switch answer.status {
        case 200, 204: break
        case 401, 403: return .refused
        case 409: return Self.conflict(answer.body)
        default: return .trouble("status \(answer.status)")
        }
        let clockHolds = Self.agrees(answer.fields.only("Date"), sent, .now)
        if answer.status == 204 || answer.body.isEmpty { return .orders([:], clockHolds: clockHolds) }
        guard let sets = Self.sets(answer.body) else { return .trouble("no JSON of a poll") }
        return .orders(sets, clockHolds: clockHolds)
    }

    /// - Returns: the orders of an answer by their names; `nil` for what is no answer to a poll.
    static func sets(_ body: [UInt8]) -> [String: String]? { (try? WireJSON.decode(Sets.self, from: body))?.sets }

    /// A web server has reasons of its own for this status: only the backend can say that a disk was copied.
    static func conflict(_ body: [UInt8]) -> Answer {
        guard let err = (try? WireJSON.decode(Fault.self, from: body))?.err, err != twinError else { return .twin }
        let name = err.utf8.prefix(64).filter { (0x21...0x7E).contains($0) }
        return .trouble("status 409: \(String(decoding: name, as: UTF8.self))")
    }

    /// - Returns: whether the backend has taken it.
    func tell(_ saying: OrderSaying) async -> Bool {
        var request = request("results", OrderResult.body(saying, installation: installation, now: .now))
        request.fields.set("Idempotency-Key", saying.idempotencyKey)
        guard let answer = try? await client.send(request, answerWithin: .seconds(15)) else { return false }
        return (200...299).contains(answer.status)
    }

    private func request(_ name: String, _ body: [UInt8]) -> HTTPClientRequest {
        var request = HTTPClientRequest(.post, backend.path + name, body: body)
        request.authority = backend.authority
        request.fields = [
            "Content-Type": "application/json", "NFC-Tap-Installation": installation, "NFC-Tap-Boot": boot,
        ]
        if let token = backend.token { request.fields.set("Authorization", "Bearer \(token)") }
        return request
    }

    /// Whether a `Date` lies between sending and arrival, with some seconds each way. What is no date says nothing.
    static func agrees(_ date: String?, _ sent: Timestamp, _ arrived: Timestamp) -> Bool {
        guard let date, let time = HTTPDate.seconds(date) else { return true }
        return time >= sent.milliseconds / 1_000 - tolerance && time <= arrived.milliseconds / 1_000 + tolerance
    }
}

/// RFC 9110 §5.6.7, the form that is to be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970; `nil` for any other text.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: parts[2]),
            parts[1].utf8.count == 2, parts[3].utf8.count == 4, parts[4].utf8.count == 8
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z").map { $0.milliseconds / 1_000 }
    }
}
