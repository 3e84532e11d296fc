// SPDX-License-Identifier: Apache-2.0
public import Linux
public import Logging
import PaymentValues
import TapClient

/// The lanes that a file names, and who hears of passes there.
public struct Hub: Sendable {
    public enum Failure: Error, Equatable, Sendable {
        /// Another process uses the output's outbox.
        case outboxInUse(output: String)
        case outbox(output: String, SystemError)
    }

    private let ports: [OutputPort]
    private let watches: [LaneWatch]

    /// Opens the outboxes.
    ///
    /// - Throws: the outbox that cannot be opened, with its output's name.
    public init(_ file: HubFile, logger: Logger) throws(Failure) {
        var ports: [OutputPort] = []
        for output in file.outputs {
            do throws(OutboxFile.Failure) { ports.append(try OutputPort(output, in: file.directory, logger)) } catch {
                throw Failure(error, output.name)
            }
        }
        self.ports = ports
        let client = TapClient(path: file.socket)
        let lanes = file.outputs.flatMap(\.lanes)
        watches = lanes.enumerated().filter { !lanes[..<$0.offset].contains($0.element) }.map { _, lane in
            LaneWatch(lane, ports.filter { $0.output.lanes.contains(lane) }, client, logger)
        }
    }

    /// Reads passes and sends them until the task is cancelled.
    ///
    /// - Throws: the outbox that takes no more taps, with its output's name.
    public func run() async throws(Failure) {
        let failure = await withTaskGroup(of: Failure?.self) { group in
            for port in ports {
                group.addTask {
                    do throws(OutboxFile.Failure) {
                        try await port.run()
                        return nil
                    } catch {
                        return Failure(error, port.output.name)
                    }
                }
            }
            for watch in watches { group.addTask { await watch.run() } }
            // Only a failure ends one of them: a tap that cannot be written down must not be taken.
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure, !Task.isCancelled { throw failure }
    }
}

extension Hub.Failure {
    init(_ failure: OutboxFile.Failure, _ output: String) {
        switch failure {
        case .inUse: self = .outboxInUse(output: output)
        case .file(let error): self = .outbox(output: output, error)
        }
    }
}
