// SPDX-License-Identifier: Apache-2.0
import Linux
package import LocalHTTP
package import Logging
import PaymentValues

/// The gateway with its sockets: for browsers on loopback, and for the administrator's commands.
package struct GatewayService: Sendable {
    private let gateway: Gateway
    private let servers: [HTTPServer]
    /// Where it listens: `127.0.0.1:8716`.
    package let addresses: [String]

    /// Opens the sockets.
    ///
    /// - Parameters:
    ///   - inherited: sockets of the service manager that listen already; then no other is opened.
    ///   - state: folder of the tills.
    ///   - administration: path of the commands' socket.
    package init(
        _ settings: GatewayFile, inherited: [InheritedSocket], state: String, administration: String, logger: Logger
    ) throws(GatewayError) {
        var sockets: [ListeningSocket] = []
        for socket in inherited {
            do throws(ListenError) {
                sockets.append(
                    try ListeningSocket(inheritedTCP: socket.descriptor, admitting: TCPAddress.isLoopback))
            } catch {
                throw .listen("inherited as \(socket.name): \(error)")
            }
        }
        if inherited.isEmpty { sockets = try Self.open(settings.listen, logger) }
        // A socket unit may have been changed: what is reached from other machines is not served all the same.
        let addresses = sockets.compactMap(\.address)
        if let open = addresses.first(where: { !$0.isLoopback }) {
            let fault = GatewayFile.beyondLoopback
            throw .listen("\(open) cannot be opened: it \(fault.problem); \(fault.remedy)")
        }
        self.addresses = addresses.map(\.description)
        if let shortage = DescriptorLimit.provide(Self.descriptors(addresses: sockets.count)) {
            let remedy = shortage.remedy(unit: "nfc-tap-gateway.service")
            logger.warning("connections \(shortage.problem): \(remedy)")
        }
        let gateway = try Gateway(settings, addresses: self.addresses, folder: state, logger: logger)
        var servers = sockets.map { socket in
            HTTPServer(
                socket: socket, limits: Self.limits, logger: logger, refusalBody: Self.body,
                handler: { await gateway.answer($0) })
        }
        do throws(ListenError) {
            servers.append(
                HTTPServer(
                    socket: try ListeningSocket(path: administration, mode: 0o600), logger: logger,
                    standing: GatewayAdministration.standing, handler: { await gateway.administer($0) }))
        } catch {
            throw .listen("\(error)")
        }
        self.gateway = gateway
        self.servers = servers
    }

    /// Serves until the task is cancelled.
    package func run() async throws(GatewayError) {
        let failure = await withTaskGroup(of: GatewayError?.self) { group in
            for server in servers {
                group.addTask {
                    do throws(ListenError) {
                        try await server.run()
                        return nil
                    } catch {
                        return .listen("\(error)")
                    }
                }
            }
            group.addTask {
                await gateway.run()
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure, !Task.isCancelled { throw failure }
    }

    /// Behind a reverse proxy all tills have one address: what one may have is what there is. The pace of a till is held
    /// by its token.
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.connections = 128
        limits.connectionsPerUser = 128
        // Pages, pairing, and whoever has shown no token yet: any user of the machine may be one of them.
        limits.strangers = 64
        limits.streams = 96
        limits.streamsPerUser = 96
        limits.relayed = 0
        return limits
    }

    /// File descriptors that it may need at a time, at so many addresses.
    package static func descriptors(addresses: Int) -> Int {
        addresses * limits.descriptors + HTTPLimits().descriptors + Upstream.mostConnections + DescriptorLimit.ofProcess
    }

    private static func open(_ addresses: [TCPAddress], _ logger: Logger) throws(GatewayError) -> [ListeningSocket] {
        var sockets: [ListeningSocket] = []
        var failure: GatewayError?
        for address in addresses {
            do throws(ListenError) {
                sockets.append(try ListeningSocket(address: address, admitting: TCPAddress.isLoopback))
            } catch {
                failure = .listen("\(error)")
                logger.notice("address not had", metadata: ["address": "\(address)", "error": "\(error)"])
            }
        }
        // A machine without IPv6 serves IPv4 all the same.
        if let failure, sockets.isEmpty { throw failure }
        return sockets
    }

    private static func body(_ refusal: HTTPRefusal) -> [UInt8] {
        refusal.json
    }
}
