import Foundation

/// The network namespace of another process, which threads of this one can enter. Needs root.
public struct NetworkNamespace: Sendable {
    private let path: String

    public init(of process: Int32) { path = "/proc/\(process)/ns/net" }

    /// Moves the calling thread, and it alone, for good. Sockets that it opens from then on are there.
    func enter() throws(RigError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open \(path)", errno) }
        defer { _ = close(descriptor) }
        // Not in the Glibc module, which is made without GNU extensions.
        typealias SetNS = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "setns") else { throw .unavailable("setns") }
        let setns = unsafe unsafeBitCast(symbol, to: SetNS.self)
        let networkNamespace: Int32 = 0x4000_0000
        guard setns(descriptor, networkNamespace) == 0 else { throw .system("setns", errno) }
    }
}
