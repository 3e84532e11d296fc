// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Glibc
import Linux

/// The key that this installation signs with: stored sales, batches, the audit chain. Made at the first start and kept
/// in the state directory, where only the daemon's user reads it; its public half lies beside it for everybody who
/// verifies.
enum InstallationKey {
    static let fileName = "installation.key"
    static let publicFileName = "installation.jwk"
    private static let publicMode: mode_t = 0o644
    /// More than a JWK of this kind ever takes.
    private static let longest = 4_096

    /// The key of the folder; `nil` where there is none.
    static func find(in folder: String) throws(InstallationKeyError) -> SigningKey? {
        let path = folder + "/" + fileName
        let text: SecretBytes
        do throws(SystemError) {
            // A pipe of that name would hold the start up.
            let file = try Descriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            text = try SecretBytes(capacity: longest) { (writer) throws(SystemError) in
                try file.readSecret(atMost: longest) { writer.append($0) }
            }
        } catch {
            if error.code == ENOENT { return nil }
            throw .unreadable(path, errno: error.code)
        }
        do throws(RecipientKeyError) { return try SigningKey(jwk: text) } catch { throw .noKey(path, error) }
    }

    /// The key of the folder, made where there is none: only `JournalBinding` knows whether it may be.
    ///
    /// - Throws: where the file cannot be read or written, or holds no key: it is never replaced by a new one, because
    ///   what the old one signed could not be verified any more.
    static func inFolder(_ folder: String) throws(InstallationKeyError) -> SigningKey {
        try inFolder(folder, found: try find(in: folder))
    }

    /// The same for one who has looked for the key already.
    static func inFolder(_ folder: String, found: SigningKey?) throws(InstallationKeyError) -> SigningKey {
        let key = if let found { found } else { try make(folder + "/" + fileName) }
        let published = Array(key.verificationKey.jwk.utf8)
        let path = folder + "/" + publicFileName
        // Each start would wait for the disk otherwise.
        if !isPublished(published, at: path) { try write(published, to: path, mode: publicMode) }
        return key
    }

    /// Whether everybody can read these bytes there, and only the owner can change them.
    private static func isPublished(_ bytes: [UInt8], at path: String) -> Bool {
        guard let status = try? FileStatus(of: path, followsLink: false), status.kind == .file else { return false }
        return status.mode == UInt32(publicMode) && (try? FileSystem.beginning(of: path, longest)) == bytes
    }

    private static func make(_ path: String) throws(InstallationKeyError) -> SigningKey {
        let key = SigningKey()
        try key.jwk.withSpan { (bytes: borrowing Span<UInt8>) throws(InstallationKeyError) -> Void in
            try write(bytes, to: path, mode: 0o600)
        }
        return key
    }

    static func write(
        _ bytes: [UInt8], to path: String, mode: mode_t
    ) throws(InstallationKeyError) {
        try write(bytes.span, to: path, mode: mode)
    }

    /// Written whole or not at all: a half key would be a lost one.
    private static func write(
        _ bytes: borrowing Span<UInt8>, to path: String, mode: mode_t
    ) throws(InstallationKeyError) {
        do throws(SystemError) { try DurableFile.replace(path, with: bytes, mode: mode) } catch {
            throw .unwritable(path, errno: error.code)
        }
    }
}
