// SPDX-License-Identifier: Apache-2.0
/// What is wrong with the configuration: where, and what to do about it.
public struct ConfigurationError: Error, Equatable, Sendable {
    /// `psp.answer-timeout`; a file where it is about the whole file.
    public var key: String
    /// One phrase: what is wrong.
    public var problem: String
    /// One phrase: what to write instead.
    public var remedy: String
    /// In the file, from 1, where it is known.
    public var line: Int?
    /// Whether a file could not be looked into: another user, or the daemon in its unit, perhaps can.
    public var isUnreadable = false

    public init(_ key: String, _ problem: String, remedy: String, isUnreadable: Bool = false) {
        self.key = key
        self.problem = problem
        self.remedy = remedy
        self.isUnreadable = isUnreadable
    }
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String { "\(key): \(problem); \(remedy)" }

    /// The line for whoever starts a program with the file: `nfc-tap-hub.toml:12: …`, without a place where none is known.
    public func words(of file: String) -> String { line.map { "\(file):\($0): \(self)" } ?? "\(self)" }
}
