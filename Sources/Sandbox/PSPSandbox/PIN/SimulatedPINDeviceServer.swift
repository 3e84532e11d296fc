// SPDX-License-Identifier: Apache-2.0
public import LocalHTTP
public import Logging
import PINDeviceAPI
import PaymentValues

/// The PIN device in software behind its socket: docs/integrating/pin-devices.md.
public struct SimulatedPINDeviceServer: Sendable {
    private let server: HTTPServer

    /// Listens at `path` from here on.
    ///
    /// - Throws: `ListenError` for a path that cannot be used.
    public init(path: String, device: SimulatedPINDevice, logger: Logger) throws(ListenError) {
        server = HTTPServer(socket: try ListeningSocket(path: path), limits: HTTPLimits(), logger: logger) {
            await SimulatedPINDeviceServer.answer($0, device)
        }
    }

    /// Serves until `shutDown` or cancellation.
    ///
    /// - Throws: `ListenError.notListening` if the socket was lost.
    public func run() async throws(ListenError) { try await server.run() }

    public func shutDown() { server.shutDown(grace: .seconds(1)) }

    private static func answer(_ request: HTTPRequest, _ device: SimulatedPINDevice) async -> HTTPResponse {
        switch (request.method, request.path) {
        case (.get, ["v1", "device"]): return SandboxAnswer(200, await device.status).response
        case (.post, ["v1", "pin-entries"]):
            guard let message = try? WireJSON.decode(PINEntryRequest.self, from: request.body),
                request.fields.only("Idempotency-Key") == message.id.text, message.mode == .test
            else { return SandboxAnswer.error(400, .requestInvalidField).response }
            return SandboxAnswer(201, await device.begin(message)).response
        case (_, let path) where path.count == 3 && path.starts(with: ["v1", "pin-entries"]):
            guard let id = PINAttemptID(path[2]) else { break }
            let seconds = request.query.first { $0.name == "wait" }.flatMap { Int($0.value) } ?? 0
            let entry: PINEntry? =
                switch request.method {
                case .get: await device.entry(id, waiting: seconds)
                case .delete: await device.withdraw(id)
                default: nil
                }
            if let entry { return SandboxAnswer(200, entry).response }
        default: break
        }
        return SandboxAnswer.error(404, .requestUnknownPath).response
    }
}
