// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Glibc
import Linux

/// A file with a private key, read straight into secret memory.
enum KeyFile {
    /// A JWK of RSA 8192 with all its members takes less.
    private static let maximumBytes = 64 * 1024

    static func read(_ path: String) throws(SandboxStartError) -> RecipientPrivateKey {
        let jwk = try bytes(path)
        do throws(RecipientKeyError) {
            return try RecipientPrivateKey(jwk: jwk)
        } catch {
            throw .key(path, error)
        }
    }

    private static func bytes(_ path: String) throws(SandboxStartError) -> SecretBytes {
        do throws(SystemError) {
            let file = try Descriptor.reading(path)
            return try SecretBytes(capacity: 4_096) { (writer) throws(SystemError) in
                try file.readSecret(atMost: maximumBytes) { writer.append($0) }
            }
        } catch {
            throw .keyFile(path, error)
        }
    }
}
