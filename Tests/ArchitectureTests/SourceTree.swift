import Foundation

/// The files of the package as they are in the checkout the tests were built from.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File {
        let module: String
        let path: String
        let lines: [Substring]
    }

    static func swiftFiles(under folder: String = "Sources") throws -> [File] {
        let base = root.appending(path: folder)
        return try FileManager.default.subpathsOfDirectory(atPath: base.path)
            .filter { $0.hasSuffix(".swift") && $0.contains("/") }
            .map { path in
                let text = try String(contentsOf: base.appending(path: path), encoding: .utf8)
                return File(
                    module: String(path.prefix { $0 != "/" }), path: "\(folder)/\(path)",
                    lines: text.split(separator: "\n", omittingEmptySubsequences: false))
            }
    }

    static func modules() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path))
    }
}
