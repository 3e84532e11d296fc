import Glibc

/// A path as the kernel takes it (unix(7)). No abstract addresses for servers: permissions do not apply to them.
struct UnixAddress {
    private var storage = sockaddr_un()
    private let length: socklen_t

    /// 107 bytes and the NUL after them.
    static let maximumPathBytes = 107

    /// `nil` where the path is empty, too long, or holds a NUL.
    init?(path: String) {
        self.init(name: Array(path.utf8), isAbstract: false)
    }

    /// `@name` is an abstract address, as in `NOTIFY_SOCKET` (sd_notify(3)); anything else must be an absolute path.
    init?(notifySocket: String) {
        let bytes = Array(notifySocket.utf8)
        switch bytes.first {
        case UInt8(ascii: "@"): self.init(name: [0] + bytes.dropFirst(), isAbstract: true)
        case UInt8(ascii: "/"): self.init(name: bytes, isAbstract: false)
        default: return nil
        }
    }

    private init?(name: [UInt8], isAbstract: Bool) {
        guard !name.isEmpty, name.count <= Self.maximumPathBytes, isAbstract || !name.contains(0) else { return nil }
        storage.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &storage.sun_path) { unsafe $0.copyBytes(from: name) }
        let header = MemoryLayout<sa_family_t>.size
        length = socklen_t(header + name.count + (isAbstract ? 0 : 1))
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}
