// SPDX-License-Identifier: Apache-2.0
import Envelope
import Glibc
import Linux
import ReaderCore
import TapSession

/// Files that commands read.
enum InputFile {
    /// More than the audit chain of a busy shop's year.
    private static let longest = 1_024 * 1_024 * 1_024

    /// The whole file; `-` is standard input.
    static func bytes(_ path: String) throws -> [UInt8] {
        do throws(SystemError) {
            guard path != "-" else { return try Descriptor.standardInput().readAll(atMost: longest) }
            return try FileSystem.bytes(of: path, atMost: longest)
        } catch {
            throw Failure(
                error.code == EFBIG ? "\(path) is longer than 1 GiB" : "cannot read \(path)", hint: "check the path",
                exitCode: .malformedInput)
        }
    }

    static func text(at path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// The first 16 bytes, by which kinds of files are told apart; nothing of standard input, which is read once.
    static func beginning(of path: String) throws -> [UInt8] {
        guard path != "-" else { return [] }
        do throws(SystemError) { return try FileSystem.beginning(of: path, 16) } catch {
            let isForbidden = error.code == EACCES
            throw Failure(
                "cannot read \(path)", hint: isForbidden ? "run the command as root" : "check the path",
                exitCode: isForbidden ? .notAllowed : .unavailable)
        }
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
}
