import Envelope
import FoundationEssentials
import Glibc
import ReaderCore
import TapSession

/// Files that commands read.
enum InputFile {
    /// The whole file; `-` is standard input.
    static func bytes(_ path: String) throws -> [UInt8] {
        guard path != "-" else { return standardInput() }
        do {
            return [UInt8](try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw Failure("cannot read \(path)", hint: "check the path", exitCode: .malformedInput)
        }
    }

    static func text(at path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// The first 16 bytes, by which kinds of files are told apart; nothing of standard input, which is read once.
    static func beginning(of path: String) throws -> [UInt8] {
        guard path != "-" else { return [] }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let isForbidden = errno == EACCES
            throw Failure(
                "cannot read \(path)", hint: isForbidden ? "run the command as root" : "check the path",
                exitCode: isForbidden ? .notAllowed : .unavailable)
        }
        defer { _ = close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    /// A public key that verifies signatures.
    static func verificationKey(_ jwk: String) throws -> VerificationKey {
        do throws(RecipientKeyError) { return try VerificationKey(jwk: Array(jwk.utf8)) } catch {
            throw Failure(
                "invalid public key: \(error)", hint: "give installation.jwk with --key", exitCode: .malformedInput)
        }
    }

    static func transcript(_ path: String) throws -> Transcript {
        let text = String(decoding: try bytes(path), as: UTF8.self)
        do throws(TranscriptError) {
            return try Transcript(parsing: text)
        } catch {
            throw Failure(
                "\(path), \(error)", hint: "see docs/transcripts.md for the format", exitCode: .malformedInput)
        }
    }

    /// `nil` gives the test terminal with the published test keys.
    static func terminal(_ path: String?, for purpose: TerminalFile.Purpose) throws -> TerminalFile {
        guard let path else { return .test }
        let bytes = try bytes(path)
        do throws(TerminalFileError) {
            return try TerminalFile(json: bytes, for: purpose)
        } catch {
            throw Failure("\(path), \(error)", hint: error.resolution, exitCode: .malformedInput)
        }
    }

    private static func standardInput() -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return all }
            all += buffer.prefix(count)
        }
    }
}
