public import Settings
import Wire

/// What a look at a configuration file found, for people and programs.
public struct ConfigurationCheck: Sendable {
    private struct Report: Encodable {
        struct Problem: Encodable {
            let key: String
            let line: Int?
            let problem: String
            let remedy: String
        }

        let file: String
        let valid: Bool
        let mode: Mode?
        let lanes: Int?
        let problems: [Problem]
    }

    public let file: String
    /// What is wrong with it; `nil` where nothing is.
    public let error: ConfigurationError?
    private let read: ConfigurationFile?

    /// Reads the file and all that it names, as a start would; opens no reader and no socket.
    public init(file: String, credentials: String?) {
        self.file = file
        do throws(ConfigurationError) {
            read = try ConfigurationFile(path: file, credentials: credentials)
            error = nil
        } catch {
            read = nil
            self.error = error
        }
    }

    /// One line: what is wrong, where, and what to do; or what the file sets up.
    public var summary: String {
        if let error { return "\(file)\(error.line.map { ":\($0)" } ?? ""): \(error)" }
        let lanes = read?.lanes.count ?? 0
        return "\(file): right, \(read?.mode.rawValue ?? "") mode, \(lanes) lane\(lanes == 1 ? "" : "s")"
    }

    /// The same as one JSON object.
    public var json: String {
        let problems = error.map {
            [Report.Problem(key: $0.key, line: $0.line, problem: $0.problem, remedy: $0.remedy)]
        }
        let report = Report(
            file: file, valid: error == nil, mode: read?.mode, lanes: read?.lanes.count, problems: problems ?? [])
        guard let bytes = try? WireJSON.encode(report) else { return "{}" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
