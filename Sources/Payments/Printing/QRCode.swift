// SPDX-License-Identifier: Apache-2.0
internal import CQREncode
public import Receipt

/// A QR code (ISO/IEC 18004) of error correction level M: dark and light modules, without a quiet zone.
public struct QRCode: Sendable {
    /// Modules a side.
    public let width: Int
    private let isDark: [Bool]

    /// The quiet zone that ISO/IEC 18004 asks for, in modules.
    static let quietZone = 4

    /// UTF-8 in the list of extended channel interpretations. Without it a reader guesses: ZBar reads the euro as kanji.
    private static let utf8Interpretation: UInt32 = 26

    /// Text that is not ASCII says that it is UTF-8 (ISO/IEC 18004, extended channel interpretation).
    ///
    /// - Parameter text: bytes of UTF-8 without a zero among them, at most 2,331, or 2,330 where they are not ASCII.
    /// - Returns: `nil` where `text` is empty, has a zero, or does not fit.
    public init?(_ text: String) {
        guard !text.utf8.isEmpty, !text.utf8.contains(0) else { return nil }
        // SAFETY: the library gives back structures that it owns until they are freed.
        guard let input = unsafe QRinput_new2(0, QR_ECLEVEL_M) else { return nil }
        // SAFETY: made above, and used no more.
        defer { unsafe QRinput_free(input) }
        let bytes = Array(text.utf8)
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        // SAFETY: the library copies the bytes before it returns.
        guard unsafe isASCII || QRinput_appendECIheader(input, QRCode.utf8Interpretation) == 0,
            unsafe QRinput_append(input, QR_MODE_8, Int32(clamping: bytes.count), bytes) == 0,
            let code = unsafe QRcode_encodeInput(input)
        else { return nil }
        // SAFETY: made above, and used no more.
        defer { unsafe QRcode_free(code) }
        // SAFETY: the structure lives until it is freed.
        width = Int(unsafe code.pointee.width)
        // SAFETY: `data` has width × width bytes; the lowest bit of each is the module's colour.
        isDark = unsafe UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Whether there is ink; light outside of the code.
    subscript(column: Int, row: Int) -> Bool {
        guard (0..<width).contains(column), (0..<width).contains(row) else { return false }
        return isDark[row * width + column]
    }

    /// Lines of block characters, two modules a line, ink on paper: on a dark screen they have to be shown black on white.
    /// - Returns: `nil` where `columns` has no room for the code and a module of margin on each side.
    public func blocks(columns: Int) -> [String]? {
        let margin = min(QRCode.quietZone, (columns - width) / 2)
        guard margin >= 1 else { return nil }
        return stride(from: -margin, to: width + margin, by: 2).map { row in
            String(
                (-margin..<width + margin).map { column -> Character in
                    switch (self[column, row], self[column, row + 1]) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                })
        }
    }

    /// A drawing without a size of its own, quiet zone included: one unit a module.
    public var svg: String {
        let side = width + 2 * QRCode.quietZone
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                let start = column
                while self[column, row] { column += 1 }
                let length = column - start
                if length > 0 {
                    path += "M\(start + QRCode.quietZone) \(row + QRCode.quietZone)h\(length)v1h-\(length)z"
                }
                column += 1
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(path)"/></svg>

            """
    }
}

extension Receipt {
    /// The QR code under which the customer finds the receipt, or pays; `nil` where there is no address.
    public var code: QRCode? { qr.flatMap { QRCode($0) } }
}
