// SPDX-License-Identifier: Apache-2.0
import ECR
public import Linux
public import LocalHTTP
public import Logging
import PaymentValues
import TapClient

/// One till, whichever its protocol.
protocol ServedTill: Sendable {
    nonisolated var till: TillsFile.Till { get }
    nonisolated var payments: TillPayments { get }

    /// - Throws: where the ledger cannot be written: nothing may go on without it.
    func run() async throws(TillLedger.Failure)
}

/// All tills of a machine: each a terminal in its own protocol, with the daemon behind it.
public struct TillBridge: Sendable {
    public enum Failure: Error, Equatable, Sendable {
        /// Another process uses the till's ledger.
        case ledgerInUse(till: String)
        /// Its file, and what the system says of it, by errno(3).
        case ledger(till: String, errno: Int32)
        /// Payments of another protocol are not over in its ledger.
        case ledgerOfAnotherProtocol(till: String)
        /// Its port or line, and what the system says of it.
        case port(till: String, place: String, SystemError)
        case server(till: String, ListenError)
        /// The driver of its line has no parity that carries a ninth bit.
        case noNinthBit(till: String, place: String)
    }

    private let ports: [TillPort]
    private let machines: [VendingPort]
    private let client: TapClient
    private let logger: Logger

    /// Opens the ledgers.
    public init(_ file: TillsFile, logger: Logger) throws(Failure) {
        client = TapClient(path: file.socket)
        self.logger = logger
        if let shortage = DescriptorLimit.provide(Self.descriptors(file)) {
            logger.warning("connections \(shortage.problem): \(shortage.remedy(unit: "nfc-tap-ecr.service"))")
        }
        var (ports, machines): ([TillPort], [VendingPort]) = ([], [])
        for till in file.tills {
            do throws(TillLedger.Failure) {
                if let machine = try VendingPort(till, in: file.directory, client, logger) { machines.append(machine) }
                if let port = try TillPort(till, in: file.directory, client, logger) { ports.append(port) }
            } catch {
                throw Failure(error, till.name)
            }
        }
        (self.ports, self.machines) = (ports, machines)
    }

    /// Brings the payments of an earlier run to their ends, opens the ports, and serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - inherited: sockets of the service manager that listen already, by the names of their tills.
    ///   - whenReady: called once every port is open.
    public func run(inherited: [InheritedSocket] = [], whenReady: @Sendable () -> Void) async throws(Failure) {
        let servers = try open(inherited)
        whenReady()
        let failure = await withTaskGroup(of: Failure?.self) { group in
            for till in ports as [any ServedTill] + machines {
                group.addTask {
                    do throws(TillLedger.Failure) {
                        try await till.run()
                        return nil
                    } catch {
                        return Failure(error, till.till.name)
                    }
                }
            }
            for (till, server) in servers {
                group.addTask {
                    do throws(ListenError) {
                        try await server.run()
                        return nil
                    } catch {
                        return .server(till: till, error)
                    }
                }
            }
            group.addTask { await followEvents() }
            // Only a failure ends one of them, and then it ends all: a till whose sales cannot be written down must not sell.
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure, !Task.isCancelled { throw failure }
    }

    /// File descriptors that the tills of a file may need at a time: each has its port, its ledger and its ways to the daemon.
    public static func descriptors(_ file: TillsFile) -> Int {
        file.tills.reduce(DescriptorLimit.ofProcess) { sum, till in
            switch (till.kind, till.line) {
            case (.hwProxy, .tcp): sum + TillExchanges.limits.descriptors + perTill
            case (_, .tcp): sum + TillLines.descriptors + perTill
            case (_, .serial): sum + 1 + perTill
            }
        }
    }

    /// A ledger, its copy while it is written anew, and questions to the daemon.
    private static let perTill = 8

    private func open(_ inherited: [InheritedSocket]) throws(Failure) -> [(till: String, server: HTTPServer)] {
        var servers: [(till: String, server: HTTPServer)] = []
        for machine in machines { try machine.begin() }
        for port in ports {
            let till = port.till
            let socket = inherited.first { $0.name == till.name }?.descriptor
            if till.kind == .hwProxy, case .tcp(let address) = till.line {
                do throws(ListenError) {
                    servers.append(
                        (till.name, try TillExchanges(port: port).server(address, inherited: socket, logger)))
                } catch {
                    throw .server(till: till.name, error)
                }
            } else {
                do throws(SystemError) { try TillLines(port, logger).begin(inherited: socket) } catch {
                    throw .port(till: till.name, place: till.place, error)
                }
            }
        }
        return servers
    }

    /// What happens on the lanes, as long as it takes: without it tills sell all the same, and say less.
    private func followEvents() async -> Failure? {
        while !Task.isCancelled {
            do throws(TapClientError) {
                for try await event in client.events(maximumOutage: .seconds(86_400)) {
                    for till in ports as [any ServedTill] + machines { till.payments.happened(event) }
                }
            } catch {
                logger.debug("no events", metadata: ["error": "\(error.code.rawValue)"])
            }
            try? await Task.sleep(for: .seconds(2))
        }
        return nil
    }
}

extension TillBridge.Failure {
    fileprivate init(_ failure: TillLedger.Failure, _ till: String) {
        switch failure {
        case .inUse: self = .ledgerInUse(till: till)
        case .file(let error): self = .ledger(till: till, errno: error.code)
        case .ofAnotherProtocol: self = .ledgerOfAnotherProtocol(till: till)
        }
    }
}
