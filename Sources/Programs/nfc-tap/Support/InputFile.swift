// SPDX-License-Identifier: Apache-2.0
import Envelope
import Glibc
import Linux
import ReaderCore
import TerminalFile

/// Files that commands read.
enum InputFile {
    /// More than any recorded card, set of keys or text.
    static let longest = 16 << 20

    /// The whole file; `-` is standard input.
    static func bytes(_ path: String) throws -> [UInt8] {
        do throws(SystemError) {
            guard path != "-" else { return try Descriptor.standardInput().readAll(atMost: longest) }
            try requireRegular(path)
            return try FileSystem.bytes(of: path, atMost: longest)
        } catch {
            throw failure(error, path)
        }
    }

    /// Each line of a file of any length, one after the other; `-` is standard input.
    static func forEachLine(of path: String, _ body: (String) throws -> Void) throws {
        do {
            if path != "-" { try requireRegular(path) }
            let file: Descriptor
            if path == "-" {
                file = try Descriptor.standardInput()
            } else {
                file = try Descriptor(opening: path, O_RDONLY)
            }
            var open: [UInt8] = []
            while true {
                let piece = try file.read(atMost: 64 * 1_024)
                open += piece
                guard let end = piece.isEmpty ? open.endIndex : open.lastIndex(of: 0x0A) else {
                    guard open.count <= longest else { throw SystemError(code: EFBIG) }
                    continue
                }
                for line in open[..<end].split(separator: 0x0A) { try body(String(decoding: line, as: UTF8.self)) }
                if piece.isEmpty { return }
                open.removeSubrange(...end)
            }
        } catch let error as SystemError {
            throw failure(error, path)
        }
    }

    /// A pipe with a name has no end before somebody has written to it, and a device none at all.
    private static func requireRegular(_ path: String) throws(SystemError) {
        guard try FileStatus(of: path, followsLink: true).kind == .file else { throw SystemError(code: ESPIPE) }
    }

    private static func failure(_ error: SystemError, _ path: String) -> Failure {
        switch error.code {
        case EFBIG:
            Failure("\(path) is longer than 16 MiB", hint: "check the path", exitCode: .malformedInput)
        case ESPIPE:
            Failure("\(path) is no regular file", hint: "write - and pipe it in", exitCode: .malformedInput)
        default: Failure("cannot read \(path)", hint: "check the path", exitCode: .malformedInput)
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
                "\(path), \(error)", hint: "see docs/internals/transcripts.md for the format", exitCode: .malformedInput
            )
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
