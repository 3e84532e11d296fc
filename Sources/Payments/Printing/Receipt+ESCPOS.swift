// SPDX-License-Identifier: Apache-2.0
import Codes
import PaymentValues
public import Receipt

extension Receipt {
    /// The receipt as a receipt printer obeys it: Epson's ESC/POS, text in code page 858, letters that it lacks by the table in
    /// `Letters`, the QR code drawn by the printer itself, and a cut at the end.
    ///
    /// - Parameters: as of `text`.
    public func escPOS(width: Int = 42, secondsFromUTC: Int = 0) -> [UInt8] {
        // ESC @: as after power-on. ESC t 19: code page 858, which has the euro sign.
        var bytes: [UInt8] = [0x1B, 0x40, 0x1B, 0x74, 19]
        let text = printed(width, secondsFromUTC, .printersCode) { text in
            Letters.replaced(in: text) { CodePage858.byte(of: $0) != nil }
        }
        for character in text { bytes.append(character == "\n" ? 0x0A : CodePage858.byte(of: character) ?? 0x3F) }
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

/// IBM's code page 850 with the euro sign in the place of the dotless i.
enum CodePage858 {
    /// The upper half, from 80 on.
    private static let upper = Array(
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´"
            + "\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}")

    /// - Returns: `nil` for what the code page lacks.
    static func byte(of character: Character) -> UInt8? {
        if let ascii = character.asciiValue { return (0x20...0x7E).contains(ascii) ? ascii : nil }
        guard let index = upper.firstIndex(of: character) else { return nil }
        return UInt8(truncatingIfNeeded: 0x80 + index)
    }
}
