// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Reads back what is drawn with programs that share nothing with the project.
enum CodeReader {
    /// Eight pixels a module.
    static func picture(of lines: [String]) -> [UInt8] {
        let width = lines.map(\.count).max() ?? 0
        let rows = lines.flatMap { line -> [[UInt8]] in
            let cells = Array(line) + Array(repeating: " ", count: width - line.count)
            return ["█▀", "█▄"].map { ink in
                cells.flatMap { Array(repeating: ink.contains($0) ? UInt8(0) : 255, count: 8) }
            }
        }
        let pixels = rows.flatMap { row in Array(repeating: row, count: 8).flatMap { $0 } }
        return Array("P5\n\(width * 8) \(rows.count * 8)\n255\n".utf8) + pixels
    }

    /// Of dots, eight a byte, ink for each that is set; with the margin that paper has.
    static func picture(of dots: [UInt8], perLine: Int) -> [UInt8] {
        let width = (perLine + 8) * 8
        let side = [UInt8](repeating: 255, count: 32)
        let blank = [UInt8](repeating: 255, count: width * 32)
        var pixels = blank
        for start in stride(from: 0, to: dots.count, by: perLine) {
            pixels += side
            for byte in dots[start..<min(start + perLine, dots.count)] {
                pixels += (0..<8).map { byte & (0x80 >> UInt8($0)) == 0 ? 255 : 0 }
            }
            pixels += side
        }
        pixels += blank
        return Array("P5\n\(width) \(pixels.count / width)\n255\n".utf8) + pixels
    }

    static func read(_ picture: [UInt8], _ form: String) throws -> String {
        let folder = try Folder()
        let file = folder.url.appending(path: "code." + form)
        try Data(picture).write(to: file)
        return try run("zbarimg", ["-q", "--raw", file.path])
    }

    /// Drawn by librsvg.
    static func read(svg: String) throws -> String {
        let folder = try Folder()
        let drawing = folder.url.appending(path: "code.svg")
        try Data(svg.utf8).write(to: drawing)
        let picture = folder.url.appending(path: "code.png")
        _ = try run("rsvg-convert", ["--width=400", drawing.path, "-o", picture.path])
        return try run("zbarimg", ["-q", "--raw", picture.path])
    }

    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let run = try Peer.run(program, arguments)
        #expect(run.status == 0, "\(program) failed; it is of zbar-tools, librsvg2-bin or libc-bin")
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    final class Folder {
        let url: URL

        init() throws {
            url = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-qr-" + UUID().uuidString)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }
    }
}
