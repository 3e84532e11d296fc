// SPDX-License-Identifier: Apache-2.0
import Hub
public import Linux
public import Logging
import PaymentValues

/// The backends that a file names, and the daemon that takes their payments.
public struct Remote: Sendable {
    public enum Failure: Error, Equatable, Sendable {
        /// Another process uses the backend's ledger.
        case ledgerInUse(backend: String)
        case ledger(backend: String, SystemError)
    }

    private let ports: [BackendPort]
    private let status: String
    private let logger: Logger

    /// Opens the ledgers.
    ///
    /// - Throws: the ledger that cannot be opened, with its backend's name.
    public init(_ file: RemoteFile, logger: Logger) throws(Failure) {
        var ports: [BackendPort] = []
        for backend in file.backends {
            do throws(BackendPort.Failure) {
                ports.append(try BackendPort(backend, in: file.directory, daemon: file.socket, logger))
            } catch {
                throw Failure(error, backend.name)
            }
        }
        self.ports = ports
        self.logger = logger
        status = file.status
    }

    /// Asks for orders and carries them out until the task is cancelled.
    ///
    /// - Throws: the ledger that takes no more orders, with its backend's name.
    public func run() async throws(Failure) {
        let failure = await withTaskGroup(of: Failure?.self) { group in
            for port in ports {
                group.addTask {
                    do throws(BackendPort.Failure) {
                        try await port.run()
                        return nil
                    } catch {
                        return Failure(error, port.backend.name)
                    }
                }
            }
            group.addTask {
                await writeStatus()
                return nil
            }
            // Only a failure ends one of them: an order that cannot be written down must not be taken.
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure, !Task.isCancelled { throw failure }
    }

    /// Keeps a file that says how it goes, for `--status` and for watchers.
    private func writeStatus() async {
        var (last, isTold) = ([BackendStatus](), false)
        while !Task.isCancelled {
            var all: [BackendStatus] = []
            for port in ports { all.append(await port.summary) }
            if all != last, let bytes = try? WireJSON.encode(all) {
                last = all
                do throws(SystemError) {
                    try DurableFile.replace(status, with: bytes.span, mode: 0o644)
                } catch {
                    if !isTold { logger.warning("status not written", metadata: ["why": "\(error)"]) }
                    isTold = true
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// What the status file says, a line for each backend.
    ///
    /// - Returns: `nil` where it cannot be read.
    public static func words(ofStatus bytes: [UInt8]) -> String? {
        guard let all = try? WireJSON.decode([BackendStatus].self, from: bytes) else { return nil }
        return all.map { backend in
            var parts = [backend.trouble ?? (backend.lastAnswer == nil ? "has not answered yet" : "answers")]
            if let time = backend.lastAnswer { parts.append("last answer \(time)") }
            if let time = backend.lastOrder { parts.append("last order \(time)") }
            if !backend.clockHolds { parts.append("clocks differ by more than 30 s") }
            if backend.untold > 0 {
                let since = backend.untoldSince.map { ", oldest of \(Timestamp(milliseconds: $0 * 1_000))" } ?? ""
                parts.append("\(backend.untold) untold\(since)")
            }
            parts += backend.refused.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
            return "\(backend.name): " + parts.joined(separator: "; ")
        }.joined(separator: "\n")
    }
}

extension Remote.Failure {
    init(_ failure: BackendPort.Failure, _ backend: String) {
        switch failure {
        case .inUse: self = .ledgerInUse(backend: backend)
        case .file(let error): self = .ledger(backend: backend, error)
        }
    }
}
