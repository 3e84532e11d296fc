// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// A code page of receipt printers, by its number in Epson's ESC t. ASCII is the same in all.
struct PrinterPage {
    let number: UInt8
    private let upper: [Character]

    /// - Parameter upper: the upper half, from 80 on; U+FFFD for what is not assigned.
    private init(_ number: UInt8, _ upper: String) { (self.number, self.upper) = (number, Array(upper)) }

    /// - Returns: `nil` where no page has the language's letters.
    init?(of language: Language) {
        switch language {
        case .polish: self = .latin2
        case .turkish: self = .turkish
        case .arabic, .japanese: return nil
        case .english, .german, .french, .spanish, .italian, .dutch, .portuguese, .swedish: self = .latin1
        }
    }

    /// - Returns: `nil` for what the code page lacks.
    func byte(of character: Character) -> UInt8? {
        if let ascii = character.asciiValue { return (0x20...0x7E).contains(ascii) ? ascii : nil }
        guard character != "\u{FFFD}", let index = upper.firstIndex(of: character) else { return nil }
        return UInt8(truncatingIfNeeded: 0x80 + index)
    }

    /// Code page 858: IBM's 850 with the euro sign in the place of the dotless i.
    static let latin1 = PrinterPage(
        19,
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐"
            + "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}")

    /// Code page 852: Central Europe.
    private static let latin2 = PrinterPage(
        18,
        "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐"
            + "└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{AD}˝˛ˇ˘§÷¸°¨˙űŘř■\u{A0}")

    /// Code page 857: Turkish.
    private static let turkish = PrinterPage(
        13,
        "ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐"
            + "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\u{FFFD}ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\u{FFFD}×ÚÛÙìÿ¯´\u{AD}±\u{FFFD}¾¶§÷¸°¨·¹³²■\u{A0}")
}
