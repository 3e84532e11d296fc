// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc
import Linux
import ReaderCore

/// A worker that is asked one thing at a time. Whatever goes wrong with it, it is ended and the caller hears `.detached`.
final class WorkerConnection {
    private var process: WorkerProcess?
    private var received: [UInt8] = []
    private var lastID: UInt32 = 0
    private let wake: WakeSignal
    private let graceMilliseconds: UInt64
    /// How the process ended, once it has.
    private(set) var end: WorkerEnd?

    /// Starts `program`.
    ///
    /// - Parameter graceMilliseconds: how long after its deadline an answer may still come before the worker counts as
    ///   stuck.
    /// - Throws: as `WorkerProcess.init`.
    init(program: String, graceMilliseconds: UInt64) throws(ReaderError) {
        wake = try ReaderError.system(try WakeSignal())
        self.graceMilliseconds = graceMilliseconds
        process = try WorkerProcess(program: program)
    }

    /// `nil` once the worker has ended.
    var processIdentifier: pid_t? { process?.identifier }

    /// Sends a request and waits for its answer.
    ///
    /// A wish to stop that comes together with the answer is too late: the answer counts.
    ///
    /// - Throws: `.cancelled`; `.detached` where the worker died, hung or talked nonsense; it has ended then.
    func ask(
        _ request: WorkerRequest, until deadline: TapInstant, cancellation: TapCancellation? = nil
    ) throws(ReaderError) -> WorkerAnswer {
        guard process != nil else { throw .detached }
        if let cancellation, cancellation.isCancelled { throw .cancelled }
        lastID &+= 1
        wake.clear()
        guard send(request.frame(id: lastID)) else { throw lose() }
        guard let cancellation else { return try answer(until: deadline, cancellation: nil) }
        return try cancellation.withWaker({ [wake] in wake.signal() }) { () throws(ReaderError) -> WorkerAnswer in
            try answer(until: deadline, cancellation: cancellation)
        }
    }

    /// Lets the worker give the device back and end by itself; ends it where it does not.
    func close() {
        guard process != nil else { return }
        let deadline = monotonicNow().advanced(byMilliseconds: graceMilliseconds)
        do throws(ReaderError) {
            _ = try ask(.close, until: deadline)
            if let outcome = process?.reap(until: deadline), outcome != .stillEnding {
                end = outcome
                process = nil
                return
            }
        } catch {
            return
        }
        _ = lose()
    }

    private func answer(
        until deadline: TapInstant, cancellation: TapCancellation?
    ) throws(ReaderError) -> WorkerAnswer {
        var limit = deadline.advanced(byMilliseconds: graceMilliseconds)
        var isAborted = false
        while true {
            if let answer = try nextAnswer() { return answer }
            if let cancellation, cancellation.isCancelled, !isAborted {
                isAborted = true
                limit = min(limit, monotonicNow().advanced(byMilliseconds: graceMilliseconds))
                guard send(WorkerRequest.abort.frame(id: lastID)) else { throw lose() }
            }
            guard monotonicNow() < limit else { throw lose() }
            try receive(until: limit)
        }
    }

    private func nextAnswer() throws(ReaderError) -> WorkerAnswer? {
        do throws(WorkerProtocolError) {
            guard let frame = try WorkerFrame.take(from: &received) else { return nil }
            guard frame.id == lastID else { throw .unknownKind(frame.kind) }
            return try WorkerAnswer(frame)
        } catch {
            throw lose()
        }
    }

    private func receive(until limit: TapInstant) throws(ReaderError) {
        guard let socket = process?.socket else { throw .detached }
        var watched = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = Poll.wait(&watched, untilNanoseconds: limit.nanoseconds)
        if watched[1].revents != 0 { wake.clear() }
        guard watched[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: WorkerFrame.longest)
        let count = unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { throw lose() }
        received += bytes.prefix(count)
    }

    /// Whether the whole frame went out. A worker that lets the socket fill up is stuck.
    private func send(_ frame: WorkerFrame) -> Bool {
        guard let socket = process?.socket, let bytes = frame.bytes else { return false }
        return unsafe Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == bytes.count
    }

    private func lose() -> ReaderError {
        end = process?.end() ?? end
        process = nil
        received = []
        return .detached
    }
}
