import CardBytes
import Envelope
import Glibc

/// A file with a private key, read straight into secret memory.
enum KeyFile {
    /// A JWK of RSA 8192 with all its members takes less.
    private static let maximumBytes = 64 * 1024

    static func read(_ path: String) throws(SandboxStartError) -> RecipientPrivateKey {
        let jwk = try bytes(path)
        do throws(RecipientKeyError) {
            return try RecipientPrivateKey(jwk: jwk)
        } catch {
            throw .key(error)
        }
    }

    private static func bytes(_ path: String) throws(SandboxStartError) -> SecretBytes {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .keyFile(errno: errno) }
        defer { _ = close(descriptor) }
        return try SecretBytes(capacity: 4_096) { (writer) throws(SandboxStartError) in
            var byte: UInt8 = 0
            while true {
                let count = unsafe Glibc.read(descriptor, &byte, 1)
                if count == 0 { return }
                guard count == 1 else { throw .keyFile(errno: errno) }
                guard writer.count < maximumBytes else { throw .keyFileTooLarge }
                writer.append(byte)
            }
        }
    }
}
