// SPDX-License-Identifier: Apache-2.0
import Envelope
import Linux
public import LocalHTTP
public import Logging
public import PSPAPI

/// The sandbox as a PSP adapter: HTTP on a Unix socket, by the adapter contract.
public struct SandboxServer: Sendable {
    public let sandbox: Sandbox
    private let server: HTTPServer

    /// Listens at `path` from here on.
    ///
    /// - Throws: why the socket cannot be made.
    public init(path: String, sandbox: Sandbox, logger: Logger) throws(ListenError) {
        self.sandbox = sandbox
        let routes = SandboxRoutes(sandbox: sandbox)
        if let shortage = DescriptorLimit.provide(Self.descriptors) {
            logger.warning("connections \(shortage.problem): \(shortage.remedy(unit: "nfc-tap-psp-sandbox.service"))")
        }
        server = HTTPServer(socket: try ListeningSocket(path: path), limits: Self.limits, logger: logger) {
            await routes.answer($0)
        }
    }

    private static var limits: HTTPLimits {
        // Its one client is a daemon with up to 64 lanes.
        var limits = HTTPLimits()
        limits.connections = 256
        limits.connectionsPerUser = 256
        limits.relayed = 0
        // A whole batch is some 300 KiB.
        limits.bodyBytes = 1 << 20
        return limits
    }

    /// File descriptors that it may need at a time, with its store and the PIN device beside it.
    static var descriptors: Int { limits.descriptors + HTTPLimits().descriptors + DescriptorLimit.ofProcess }

    /// As the program starts it.
    ///
    /// - Parameters:
    ///   - keyFile: path of a private JWK; `nil` for the published test key.
    ///   - profile: what `GET /v1/profile` serves.
    ///   - store: path of the books that several sandboxes share; `nil` for books in memory.
    ///   - features: what it takes and says in its health answer.
    /// - Throws: `SandboxStartError` for a key, a store or a path that cannot be used.
    public init(
        path: String, keyFile: String?, timing: SandboxTiming, profile: SandboxProfile?, store: String? = nil,
        features: Set<AdapterFeature> = Set(AdapterFeature.allCases), logger: Logger
    ) throws(SandboxStartError) {
        let key: RecipientPrivateKey
        if let keyFile {
            key = try KeyFile.read(keyFile)
        } else {
            do throws(RecipientKeyError) { key = try TestRecipient.privateKey() } catch {
                throw .key("the test key", error)
            }
        }
        let sandbox: Sandbox
        if let store {
            do throws(StoreError) {
                sandbox = try Sandbox(
                    key: key, storePath: store, timing: timing, profile: profile, features: features)
            } catch {
                throw .store(store, error)
            }
        } else {
            sandbox = Sandbox(key: key, timing: timing, profile: profile, features: features)
        }
        do throws(ListenError) {
            try self.init(path: path, sandbox: sandbox, logger: logger)
        } catch {
            throw .listen(error)
        }
    }

    /// Serves until `shutDown` or cancellation.
    ///
    /// - Throws: `ListenError.notListening` if the socket was lost.
    public func run() async throws(ListenError) { try await server.run() }

    public func shutDown() { server.shutDown(grace: .seconds(1)) }
}
