// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import Printing
import Receipt
import Testing

/// Independent programs read back what is drawn here: zbarimg (ZBar) reads the codes, rsvg-convert (librsvg) draws the SVG.
@Suite("The QR code of a receipt")
struct QRCodeTests {
    static let address = "https://receipts.example/01a2037f-7168-7d2c-9e61-5263e834c583"

    @Test("ZBar reads the address from the PNG", arguments: [3, 8, 32])
    func png(scale: Int) throws {
        let code = try #require(QRCode(Self.address))
        #expect(try CodeReader.read(code.png(scale: scale), "png") == Self.address)
    }

    @Test("ZBar reads the address from the SVG, drawn by librsvg")
    func svg() throws {
        let code = try #require(QRCode(Self.address))
        #expect(try CodeReader.read(svg: code.svg) == Self.address)
    }

    @Test("ZBar reads the address from the text of the receipt, ink for every block", arguments: [42, 48])
    func blocks(width: Int) throws {
        var receipt = try ReceiptBench.receipt(.approved)
        receipt.qr = "https://receipts.example/9f2c"
        let lines = receipt.text(width: width, withCode: true).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= width })
        #expect(try CodeReader.read(CodeReader.picture(of: lines.map(String.init)), "pgm") == receipt.qr)
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

    @Test(
        "P7: letters beyond ASCII are read back as they are, and not as kanji",
        arguments: ["12 €", "Müller", "Łódź", "café ☕"])
    func letters(text: String) throws {
        let code = try #require(QRCode(text))
        #expect(try CodeReader.read(code.png(scale: 8), "png") == text)
        #expect(QRCode(String(repeating: "a", count: 2_328) + "é") != nil)
        #expect(QRCode(String(repeating: "a", count: 2_329) + "é") == nil)
        // A printer gets a picture of it: GS v 0, bytes a line, lines, and as many bytes as both say.
        var receipt = try ReceiptBench.receipt(.approved)
        receipt.qr = text
        let bytes = receipt.escPOS(width: 42)
        let header = try #require(bytes.firstRange(of: [0x1D, 0x76, 0x30, 0])).upperBound
        let (perLine, lines) = (Int(bytes[header]), Int(bytes[header + 2]) + Int(bytes[header + 3]) * 256)
        let picture = bytes[(header + 4)...].prefix(perLine * lines)
        #expect(picture.count == perLine * lines)
        #expect(try CodeReader.read(CodeReader.picture(of: Array(picture), perLine: perLine), "pgm") == text)
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
        let folder = try CodeReader.Folder()
        let file = folder.url.appending(path: "lines")
        try Data(printed).write(to: file)
        let text = try CodeReader.run("iconv", ["-f", "CP858", "-t", "UTF-8", file.path])
        // The code stands below, where a text without one has the address in letters.
        let scan = "Für den Beleg den Code scannen"
        let plain = receipt.text(width: 42).replacing("https://receipts.example/1\n", with: "")
            .replacing(#/ *Ihr Beleg:/#, with: String(repeating: " ", count: (42 - scan.count) / 2) + scan)
        #expect(text == plain.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
