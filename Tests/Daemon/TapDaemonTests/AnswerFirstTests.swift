// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("What a till waits for", .timeLimit(.minutes(5)))
struct AnswerFirstTests {
    @Test("W8: a till has its answer before what was dropped is taken off the disk")
    func answerFirst() async throws {
        let folder = try TestFolder()
        let log = try DiskLog()
        defer { log.remove() }
        let state = folder.path + "/state"
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "nfc-tapd")
        process.arguments = ["--runtime-directory", folder.path, "--state-directory", state]
        process.environment = ProcessInfo.processInfo.environment.merging(log.environment) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        let client = HTTPClient(path: folder.path + "/pos.sock")
        try await withSandbox(in: folder) { _ in
            try await eventually("a ready daemon") {
                let answer = try? await client.send(HTTPClientRequest(.get, "/v1/status"), answerWithin: hangLimit)
                return try answer.map { try WireJSON.decode(Status.self, from: $0.body).ready } ?? false
            }
            // Of the start's own work with the log nothing is left to be done.
            try await eventually("the first scrub") { try log.lines().contains("sync \(state)/journal.sqlite") }
            for sale in 0..<6 {
                let before = try log.lines().count
                _ = try VirtualReaderSocket.send(
                    "present visa", to: folder.path + "/reader.sock",
                    until: monotonicNow().advanced(byMilliseconds: 60_000))
                let fields: HTTPFields = [
                    "Content-Type": "application/json", "Idempotency-Key": "sale-\(sale)", "Prefer": "wait=60",
                ]
                let body = Array(purchase(1_250, more: #","deadline":60,"allowRepeat":true"#).utf8)
                let answer = Answer(
                    try await client.send(
                        HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: body),
                        answerWithin: hangLimit))
                #expect(try answer.transaction().state == .approved)
                _ = try VirtualReaderSocket.send(
                    "remove", to: folder.path + "/reader.sock",
                    until: monotonicNow().advanced(byMilliseconds: 60_000))
                try await eventually("what was told") { try log.lines().dropFirst(before).contains("answer 201") }
                let lines = try log.lines().dropFirst(before)
                let told = try #require(lines.firstIndex(of: "answer 201"), "the rig saw nothing")
                #expect(lines[..<told].contains("sync \(state)/journal.sqlite-wal"))
                #expect(!lines[..<told].contains("sync \(state)/journal.sqlite"), "sale \(sale): \(lines)")
            }
        }
    }
}
