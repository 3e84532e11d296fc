// SPDX-License-Identifier: Apache-2.0
import Crypto
import Linux
import LocalHTTP
import PaymentValues

/// The till's and the display's files, read once: no path of a request reaches the file system.
struct Pages: Sendable {
    private struct Page: Sendable {
        var type: String
        var tag: String
        var bytes: [UInt8]
    }

    private var table: [String: Page] = [:]

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "json": "application/json", "svg": "image/svg+xml", "png": "image/png",
        "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8", "wav": "audio/wav",
        "ogg": "audio/ogg", "mp3": "audio/mpeg",
    ]
    private static let largest = 4 << 20

    /// Empty where there is no such folder.
    init(folder: String) { read(folder, "") }

    var isEmpty: Bool { table.isEmpty }

    /// Whether a till or a display, as `TillDraft.kind` calls it, has its page here.
    func has(_ kind: String) -> Bool { table["\(kind).html"] != nil }

    private mutating func read(_ folder: String, _ prefix: String) {
        for name in FileSystem.entries(folder) ?? [] where !name.hasPrefix(".") {
            let path = "\(folder)/\(name)"
            guard let status = try? FileStatus(of: path, followsLink: true) else { continue }
            if status.kind == .folder {
                // One folder within it, for the texts.
                if prefix.isEmpty { read(path, "\(name)/") }
            } else if let type = name.split(separator: ".").last.flatMap({ Self.types[String($0)] }),
                let bytes = try? FileSystem.bytes(of: path, atMost: Self.largest)
            {
                let sum = LowerHex.text(SHA256.hash(data: bytes).prefix(8))
                table[prefix + name] = Page(type: type, tag: "\"\(sum)\"", bytes: bytes)
            }
        }
    }

    /// - Returns: `nil` where there is no such page.
    func answer(_ path: [String], _ fields: HTTPFields) -> HTTPResponse? {
        if path.isEmpty { return Self.redirect("/till/") }
        guard let first = path.first, ["till", "display"].contains(first) else { return nil }
        if path.count == 1 { return Self.redirect("/\(first)/") }
        let rest = path.dropFirst().joined(separator: "/")
        guard let page = table[rest.isEmpty ? "\(first).html" : rest] else { return nil }
        var answer = HTTPFields()
        answer.set("ETag", page.tag)
        Self.secure(&answer)
        if fields.all("If-None-Match").contains(where: { $0.contains(page.tag) }) {
            return HTTPResponse(status: 304, fields: answer)
        }
        answer.set("Content-Type", page.type)
        return HTTPResponse(status: 200, fields: answer, body: .bytes(page.bytes))
    }

    static func redirect(_ place: String) -> HTTPResponse {
        HTTPResponse(status: 308, fields: ["Location": place, "Cache-Control": "no-store"])
    }

    /// Scripts, styles and connections of this origin only, and nothing that a text could turn into a script.
    private static func secure(_ fields: inout HTTPFields) {
        fields.set(
            "Content-Security-Policy",
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; \
            connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'
            """)
        fields.set("X-Content-Type-Options", "nosniff")
        fields.set("Referrer-Policy", "no-referrer")
        fields.set("Cross-Origin-Opener-Policy", "same-origin")
        fields.set("Cross-Origin-Resource-Policy", "same-origin")
        fields.set("Cache-Control", "no-cache")
    }
}
