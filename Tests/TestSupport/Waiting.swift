// SPDX-License-Identifier: Apache-2.0
/// Longer than anything takes on the busiest machine: only something that hangs meets it. No test is about this time.
public let hangLimit = Duration.seconds(90)

/// Until programs have started on a machine that starts dozens of them and builds beside it.
private let startLimit = Duration.seconds(300)

/// What a test waited for has not come.
public struct Hung: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}

/// Waits until `value` gives one.
///
/// - Throws: `Hung` after five minutes, and what `value` throws.
@discardableResult
public func eventually<Value>(_ what: String, _ value: () async throws -> Value?) async throws -> Value {
    let deadline = ContinuousClock.now.advanced(by: startLimit)
    repeat {
        if let value = try await value() { return value }
        try await Task.sleep(for: .milliseconds(2))
    } while ContinuousClock.now < deadline
    throw Hung(description: "waited in vain for \(what)")
}

/// Waits until `holds`.
///
/// - Throws: `Hung` after five minutes, and what `holds` throws.
public func eventually(_ what: String, _ holds: () async throws -> Bool) async throws {
    try await eventually(what) { try await holds() ? () : nil }
}
