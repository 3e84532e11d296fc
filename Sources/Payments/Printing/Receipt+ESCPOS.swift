// SPDX-License-Identifier: Apache-2.0
import Codes
import PaymentValues
public import Receipt

extension Receipt {
    /// The receipt as a receipt printer obeys it: Epson's ESC/POS, text in the code page of its language, letters that it lacks
    /// by the table in `Letters`, the QR code drawn by the printer itself, and a cut at the end.
    ///
    /// The words are English where no code page of printers has the language's letters.
    ///
    /// - Parameters: as of `text`.
    public func escPOS(width: Int = 42, secondsFromUTC: Int = 0) -> [UInt8] {
        let language = Language(tag: language)
        let page = PrinterPage(of: language) ?? .latin1
        // ESC @: as after power-on. ESC t: the code page.
        var bytes: [UInt8] = [0x1B, 0x40, 0x1B, 0x74, page.number]
        let words = PrinterPage(of: language) == nil ? Language.english : language
        let text = printed(width, secondsFromUTC, .printersCode, in: words) { text in
            Letters.replaced(in: text) { page.byte(of: $0) != nil }
        }
        for character in text { bytes.append(character == "\n" ? 0x0A : page.byte(of: character) ?? 0x3F) }
        if let qr { bytes += qr.utf8.allSatisfy { $0 < 0x80 } ? Receipt.qrCommand(qr) : Receipt.raster(qr) }
        // GS V 66 0: feed to the cutter, and cut all but a bridge.
        return bytes + [0x1D, 0x56, 66, 0]
    }

    /// GS v 0: the code as a picture, in the middle. A printer that draws the code itself takes no word of its letters' encoding.
    private static func raster(_ text: String) -> [UInt8] {
        guard let code = QRCode(text) else { return [] }
        // 360 dots fit on paper of 58 mm.
        let dots = max(2, min(6, 360 / code.width))
        let side = code.width * dots
        let bytesPerLine = (side + 7) / 8
        var picture: [UInt8] = []
        for row in 0..<side {
            var line = [UInt8](repeating: 0, count: bytesPerLine)
            for column in 0..<side where code[column / dots, row / dots] {
                line[column / 8] |= 0x80 >> UInt8(column % 8)
            }
            picture += line
        }
        func number(_ value: Int) -> [UInt8] {
            [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        }
        let header = [0x1D, 0x76, 0x30, 0] + number(bytesPerLine) + number(side)
        return [0x1B, 0x61, 1] + header + picture + [0x0A, 0x1B, 0x61, 0]
    }

    /// GS ( k, functions 165, 167, 169, 180 and 181: model 2, six dots a module, level M, the data, and print, in the middle.
    private static func qrCommand(_ text: String) -> [UInt8] {
        let data = Array(text.utf8.prefix(2_331))
        func function(_ number: UInt8, _ parameters: [UInt8]) -> [UInt8] {
            let count = parameters.count + 2
            return [
                0x1D, 0x28, 0x6B, UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8), 49, number,
            ] + parameters
        }
        let draw = function(65, [50, 0]) + function(67, [6]) + function(69, [49]) + function(80, [48] + data)
        return [0x1B, 0x61, 1] + draw + function(81, [48]) + [0x0A, 0x1B, 0x61, 0]
    }
}
