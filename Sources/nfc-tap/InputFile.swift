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

    static func transcript(_ path: String) throws -> Transcript {
        let text = String(decoding: try bytes(path), as: UTF8.self)
        do throws(TranscriptError) {
            return try Transcript(parsing: text)
        } catch {
            throw Failure("\(path), \(error)", hint: "see docs/transcripts.md for the form", exitCode: .malformedInput)
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
