// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One POSIX thread outside the cooperative pool, for calls that block.
package enum PrivateThread {
    /// Starts a detached thread. It shows as `name` (at most 15 bytes) in tools such as top.
    ///
    /// - Throws: where the system has no thread left.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var attributes = pthread_attr_t()
        _ = unsafe pthread_attr_init(&attributes)
        defer { _ = unsafe pthread_attr_destroy(&attributes) }
        _ = unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(&thread, &attributes, runThread, start.toOpaque())
        guard result == 0 else {
            unsafe start.release()
            throw SystemError(code: result)
        }
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    nameThisThread(start.name)
    start.body()
    return nil
}

/// By procfs, because pthread_setname_np is not in the Glibc module. A thread without a name works as well.
private func nameThisThread(_ name: String) {
    let descriptor = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = unsafe write(descriptor, bytes, bytes.count)
    _ = close(descriptor)
}
