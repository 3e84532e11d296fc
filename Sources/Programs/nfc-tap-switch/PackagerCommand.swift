// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import ISO8583
import Linux

/// For whoever writes a packager: is the file right, and what does it make of the host's bytes?
struct PackagerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packager", abstract: "Check a packager file, and read messages with it.",
        discussion: """
            Without messages it prints how each field is packed. Messages are hexadecimal, as a network trace shows them; blanks count for \
            nothing. Of a message the fields are shown that may be: the card number by its last four digits, tracks and chip data by their \
            lengths. See docs/service/iso8583.md.
            """)

    @Argument(help: ArgumentHelp("Packager file, or the name of a built-in one.", valueName: "file"))
    var file: String

    @Option(
        name: .customLong("read"),
        help: ArgumentHelp("A message in hexadecimal, without what stands before it on the line.", valueName: "hex"))
    var messages: [String] = []

    @Flag(help: "The messages begin with what stands before them on the line: length, and TPDU where the host has one.")
    var framed = false

    func run() throws {
        let packager = try Self.packager(file)
        guard !messages.isEmpty else { return try Descriptor.print(Self.table(packager)) }
        for text in messages {
            let digits = text.filter { !$0.isWhitespace }
            guard let bytes = try? Hex.bytes(digits) else {
                throw ValidationError("“\(text.prefix(16))…” is not hexadecimal: write two digits for each byte.")
            }
            do {
                try Descriptor.print(try read(bytes, packager))
            } catch let error as MessageError {
                throw ValidationError("The message is not as \(packager.name) packs it: \(error).")
            } catch let error as FrameError {
                throw ValidationError("The bytes before the message are not as \(packager.name) has them: \(error).")
            }
        }
    }

    private func read(_ bytes: [UInt8], _ packager: Packager) throws -> String {
        guard framed else { return Self.described(try packager.parse(bytes)) }
        var reader = FrameReader(packager.frame)
        reader.append(bytes)
        var lines: [String] = []
        while let frame = try reader.next() {
            switch frame {
            case .keepAlive: lines.append("a frame without content")
            case .message(let message, _): lines.append(Self.described(try packager.parse(message)))
            }
        }
        return lines.isEmpty ? "not a whole frame: more bytes are announced" : lines.joined(separator: "\n")
    }

    /// The message, and what keeps field 55 of an answer from the card: nothing of its content.
    private static func described(_ message: ISOMessage) -> String {
        guard !message.type.isRequestOrAdvice, let field = message[55] else { return "\(message)" }
        do throws(ChipDataError) {
            let answer = try IssuerAnswer(field)
            let count = answer.authenticationData?.count ?? 0
            return "\(message)\nfield 55: tag 91 of \(count) bytes, \(answer.scripts.count) scripts"
        } catch {
            return "\(message)\nfield 55 does not reach the card: \(error)"
        }
    }

    /// A file, or a built-in one by its name.
    static func packager(_ name: String) throws -> Packager {
        if let builtIn = Packager.BuiltIn(rawValue: name) { return try Packager(builtIn) }
        let bytes: [UInt8]
        do { bytes = try FileSystem.bytes(of: name, atMost: 1 << 20) } catch {
            let names = Packager.BuiltIn.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(name) is no file that can be read, and none of \(names).")
        }
        do throws(PackagerError) { return try Packager(file: bytes) } catch {
            throw ValidationError("\(name): \(error)")
        }
    }

    private static func table(_ packager: Packager) -> String {
        let frame = packager.frame.length.rawValue + (packager.frame.hasTPDU ? ", TPDU" : "")
        let head =
            "\(packager.name): type \(packager.type.rawValue), bitmap \(packager.bitmap.rawValue), frame \(frame)"
        let fields = packager.fields.sorted { $0.key < $1.key }.map { number, rule in
            var words = ["\(number)", rule.format.notation, rule.encoding.rawValue]
            if case .variable = rule.format.length {
                words.append("length \(rule.lengths.rawValue) of \(rule.counts.rawValue)")
            }
            if rule.encoding == .bcd { words.append(rule.pad.rawValue) }
            return words.joined(separator: "\t") + "\t" + rule.name
        }
        return ([head] + fields).joined(separator: "\n")
    }
}
