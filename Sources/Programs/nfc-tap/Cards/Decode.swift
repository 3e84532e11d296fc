// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import EMV
import Explain

struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Decodes bytes of a card or terminal.",
        discussion: """
            Recognises BER-TLV, data object lists, commands and responses, ATR and ATS. Use --as if it cannot tell. Card \
            numbers, names, certificates and unknown objects are hidden unless --unmasked is given.
            """)

    @Argument(help: ArgumentHelp("Hexadecimal digits; spaces are allowed, - reads standard input.", valueName: "hex"))
    var words: [String]

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Decode as tlv, dol, apdu, atr, ats, or as the value of this tag.", valueName: "form"))
    var form: String?

    @Option(help: ArgumentHelp("Kernel that defines ambiguous tags, 1 to 8.", valueName: "number"))
    var kernel: UInt32?

    @Flag(help: "Show everything, card number and name included. For test cards.")
    var unmasked = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let form, DecodeForm(word: form) == nil {
            throw ValidationError("--as \(form): give tlv, dol, apdu, atr, ats or a tag.")
        }
        if let kernel, !(1...8).contains(kernel) { throw ValidationError("--kernel takes 1 to 8.") }
    }

    func run() throws {
        let text =
            words == ["-"] ? String(decoding: try InputFile.bytes("-"), as: UTF8.self) : words.joined(separator: " ")
        let bytes: [UInt8]
        do throws(HexError) {
            bytes = try Hex.bytes(text)
        } catch {
            throw Failure(
                error.description, hint: "write two digits for each byte, 0-9 and A-F", exitCode: .malformedInput)
        }
        let decoder = CardDataDecoder(kernel: kernel.map { KernelIdentifier(rawValue: $0) }, unmasked: unmasked)
        let decoded: Decoded
        do throws(DecodeError) {
            decoded = try decoder.decode(bytes, as: form.flatMap { DecodeForm(word: $0) })
        } catch {
            throw Failure(
                error.description, hint: form == nil ? "say what the bytes are with --as" : nil,
                exitCode: .malformedInput)
        }
        if json {
            try StandardOutput.print(json: decoded)
        } else {
            for line in decoded.lines { StandardOutput.print(line) }
        }
    }
}
