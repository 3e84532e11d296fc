// SPDX-License-Identifier: Apache-2.0
import Foundation
import Receipt
import Testing
import Wire

/// Independent programs read back what is drawn here: zbarimg (ZBar) reads the codes, rsvg-convert (librsvg) draws the SVG.
@Suite("The QR code of a receipt")
struct QRCodeTests {
    static let address = "https://receipts.example/01a2037f-7168-7d2c-9e61-5263e834c583"

    @Test("ZBar reads the address from the PNG", arguments: [3, 8, 32])
    func png(scale: Int) throws {
        let code = try #require(QRCode(Self.address))
        #expect(try read(code.png(scale: scale), "png") == Self.address)
    }

    @Test("ZBar reads the address from the SVG, drawn by librsvg")
    func svg() throws {
        let code = try #require(QRCode(Self.address))
        let folder = try Folder()
        let drawing = folder.url.appending(path: "code.svg")
        try Data(code.svg.utf8).write(to: drawing)
        let picture = folder.url.appending(path: "code.png")
        _ = try run("rsvg-convert", ["--width=400", drawing.path, "-o", picture.path])
        #expect(try run("zbarimg", ["-q", "--raw", picture.path]) == Self.address)
    }

    @Test("ZBar reads the address from the text of the receipt, ink for every block", arguments: [42, 48])
    func blocks(width: Int) throws {
        var receipt = try ReceiptBench.receipt(.approved)
        receipt.qr = "https://receipts.example/9f2c"
        let lines = receipt.text(width: width, withCode: true).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= width })
        #expect(try read(picture(of: lines.map(String.init)), "pgm") == receipt.qr)
    }

    @Test("Where the paper is too narrow, the address stands there")
    func narrow() throws {
        var receipt = try ReceiptBench.receipt(.approved)
        receipt.qr = Self.address
        let text = receipt.text(width: 32, withCode: true)
        #expect(!text.contains("█"))
        let printed = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined()
        #expect(printed.contains(Self.address))
        #expect(!receipt.text(width: 48).contains("█"))
    }

    @Test("Nothing is drawn of an empty text, of a zero, or of more than a code holds")
    func limits() {
        #expect(QRCode("") == nil)
        #expect(QRCode("a\0b") == nil)
        #expect(QRCode(String(repeating: "a", count: 2_331)) != nil)
        #expect(QRCode(String(repeating: "a", count: 2_332)) == nil)
    }

    @Test("The printer is told what python-escpos tells it, and the lines of the text in its code page")
    func escPOS() throws {
        let receipt = try ReceiptBench.receipt(.approved, .customer, .german)
        let bytes = receipt.escPOS(width: 42)
        // Printed by python-escpos 3.1 (MIT), profile TM-T88III: hw("INIT"), charcode("CP858"), set(align="center"),
        // qr("https://receipts.example/1", native=True, size=6, ec=1), cut(mode="PART", feed=False).
        let code = try #require(
            bytes.firstRange(
                of: hex(
                    "1b6101" + "1d286b0400314132001d286b03003143061d286b03003145311d286b1d003150306874"
                        + "7470733a2f2f72656365697074732e6578616d706c652f311d286b0300315130")))
        #expect(bytes.starts(with: hex("1b40" + "1b7413")))
        #expect(bytes.suffix(4) == hex("1d564200")[...])
        let printed = bytes[5..<code.lowerBound]
        let folder = try Folder()
        let file = folder.url.appending(path: "lines")
        try Data(printed).write(to: file)
        let text = try run("iconv", ["-f", "CP858", "-t", "UTF-8", file.path])
        #expect(text == receipt.text(width: 42).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    // MARK: -

    /// Eight pixels a module.
    private func picture(of lines: [String]) -> [UInt8] {
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

    private func read(_ picture: [UInt8], _ form: String) throws -> String {
        let folder = try Folder()
        let file = folder.url.appending(path: "code." + form)
        try Data(picture).write(to: file)
        return try run("zbarimg", ["-q", "--raw", file.path])
    }

    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(
            process.terminationStatus == 0, "\(program) failed; it is of zbar-tools, librsvg2-bin or libc-bin")
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}

private final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-qr-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
