// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Another program that wants the card in a reader of pcscd: `rig-client`.
final class OtherProgram {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameters:
    ///   - manner: `exclusive`, `reset`, `raw` or `dies`.
    ///   - socket: pcscd's.
    init(_ manner: String, reader: String, socket: String) throws {
        process.executableURL = Program.tap.url.deletingLastPathComponent().appending(path: "rig-client")
        process.arguments = [manner, reader]
        process.environment = ProcessInfo.processInfo.environment.merging(["PCSCLITE_CSOCK_NAME": socket]) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Returns once it has the card.
    func holds() throws {
        let word = try output.fileHandleForReading.read(upToCount: 5) ?? Data()
        try #require(word == Data("held\n".utf8))
    }

    /// Has it end as its manner says; where it dies, nothing is given back.
    func ends() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Has it let go of the card.
    func letsGo() throws {
        try input.fileHandleForWriting.close()
        let word = try output.fileHandleForReading.readToEnd() ?? Data()
        try #require(word.hasSuffix(Data("free\n".utf8)))
    }
}

extension Data {
    fileprivate func hasSuffix(_ end: Data) -> Bool { suffix(end.count) == end }
}
