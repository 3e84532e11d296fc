// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import Logging

/// A private folder that is gone afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = NSTemporaryDirectory() + "lh-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// Runs a server for the time of `body`, which gets the socket's path.
func withServer<Value: Sendable>(
    limits: HTTPLimits = .patient, handler: @escaping HTTPHandler,
    _ body: (String, HTTPServer) async throws -> Value
) async throws -> Value {
    try await withFolder { folder in
        let path = folder + "/s"
        let server = HTTPServer(
            socket: try ListeningSocket(path: path), limits: limits, logger: Logger(label: "test"), handler: handler)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            defer { group.cancelAll() }
            return try await body(path, server)
        }
    }
}

extension HTTPLimits {
    /// A connection that ends in a test was ended by somebody, not by being idle.
    static let patient: HTTPLimits = {
        var limits = HTTPLimits()
        limits.idleTime = .seconds(3600)
        return limits
    }()
}

/// Answers with what it has understood.
let echo: HTTPHandler = { request in
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    let text = "\(request.method.rawValue) \(request.path) [\(query)] \(request.text ?? "not UTF-8")"
    return HTTPResponse(status: 200, fields: ["Content-Type": "text/plain"], body: .bytes(Array(text.utf8)))
}

/// Sends `text`, reads what comes until the server closes.
func exchange(_ text: String, at path: String) async throws -> String {
    try await exchange(Array(text.utf8), at: path)
}

func exchange(_ bytes: [UInt8], at path: String) async throws -> String {
    try await blocking {
        let socket = try RawSocket(path)
        socket.send(bytes)
        return socket.readToEnd()
    }
}

extension String {
    /// The status of an HTTP answer that begins here.
    var status: Int? {
        guard hasPrefix("HTTP/1.1 ") else { return nil }
        return Int(dropFirst(9).prefix(3))
    }
}
