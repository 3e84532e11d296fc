// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Linux
import POSAPI
import PaymentValues
import Printing
import Receipt
import TapClient

struct ReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt", abstract: "Prints the receipt of a transaction.",
        discussion: """
            The customer's copy is in the language of the sale, if it names one, the merchant's in that of the locale; --language changes that. If the \
            payment service gives an address for a digital receipt, --text draws its QR code, --qr prints the address. \
            With --svg and --png it is a picture of the code. --escpos writes the commands of a receipt printer: \
            nfc-tap receipt ID --escpos >/dev/usb/lp0
            """)

    @Argument(help: ArgumentHelp("The transaction's id, or its number in the list.", valueName: "id"))
    var id: String

    @Option(help: ArgumentHelp("Which copy: customer or merchant.", valueName: "copy"), transform: { try choice($0) })
    var copy = Receipt.Copy.customer

    @Flag(help: "Select the form of the receipt; default: --text.")
    var form = ReceiptForm.text

    @Option(help: ArgumentHelp("Number of the printer's columns, 32 to 48.", valueName: "number"))
    var width = 42

    @Option(
        help: ArgumentHelp("Language of the text: \(Language.tags).", valueName: "language"),
        transform: { try choice($0) })
    var language: Language?

    @OptionGroup var daemon: DaemonChoice

    func validate() throws {
        guard Receipt.widths.contains(width) else { throw ValidationError("--width takes 32 to 48.") }
        if form.isBinary, StandardOutput.isTerminal {
            throw ValidationError("A terminal cannot show --\(form.rawValue); send the output to a file or a printer.")
        }
    }

    func run() async throws {
        let id = try await PaymentName(id).id(with: daemon.client)
        var language = language ?? (copy == .merchant ? .spoken : nil)
        if language == nil {
            let sale: Transaction
            do throws(TapClientError) { sale = try await daemon.client.transaction(id) } catch { throw Failure(error) }
            if sale.details?.language == nil { language = .spoken }
        }
        try await form.print(id, copy, language: language, width, with: daemon.client)
    }
}

/// The form in which a command prints a receipt.
enum ReceiptForm: String, EnumerableFlag, ExpressibleByArgument {
    case text, json, qr, svg, png, escpos

    var isBinary: Bool { self == .png || self == .escpos }

    func print(
        _ id: TransactionID, _ copy: Receipt.Copy = .customer, language: Language?, _ width: Int = 42,
        with client: TapClient
    ) async throws {
        do {
            switch self {
            case .text:
                let text = try await client.receiptText(
                    of: id, copy: copy, language: language, width: width, withCode: true)
                StandardOutput.print(
                    coloured: ReceiptForm.shown(String(text.dropLast(text.last == "\n" ? 1 : 0)).shown))
            case .json:
                try StandardOutput.print(json: try await client.receipt(of: id, copy: copy, language: language))
            case .qr:
                StandardOutput.print(try ReceiptForm.known(await client.receipt(of: id, language: language).qr))
            case .svg:
                let code = try ReceiptForm.known(await client.receipt(of: id, language: language).code)
                StandardOutput.write(Array(code.svg.utf8))
            case .png:
                StandardOutput.write(try ReceiptForm.known(await client.receipt(of: id, language: language).code).png())
            case .escpos:
                StandardOutput.write(
                    try await client.receiptCommands(of: id, copy: copy, language: language, width: width))
            }
        } catch let error as TapClientError {
            throw Failure(error)
        }
    }

    /// What needs an address for a digital receipt.
    private static func known<Value>(_ value: Value?) throws(Failure) -> Value {
        guard let value else {
            let code = ErrorCode.receiptNoAddress
            let texts = code.texts(in: .spoken)
            var failure = Failure(
                "\(texts.message) (\(code.rawValue))", hint: texts.resolution, exitCode: .notCompleted,
                code: code.rawValue)
            failure.language = .spoken
            throw failure
        }
        return value
    }

    /// On a terminal a QR code is black on white whatever the terminal's colours are, so that a camera can read it.
    private static func shown(_ text: String) -> String {
        guard StandardOutput.isTerminal else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.contains { "█▀▄".contains($0) } ? "\u{1B}[30;107m\(line)\u{1B}[0m" : String(line)
        }.joined(separator: "\n")
    }
}

extension Language {
    /// For the help of an option.
    static let tags = allCases.dropLast().map(\.rawValue).joined(separator: ", ") + " or \(Language.japanese.rawValue)"
}

/// An argument that must be one of a few words.
func choice<Choice: RawRepresentable<String> & CaseIterable>(_ text: String) throws -> Choice {
    guard let choice = Choice(rawValue: text) else {
        throw ValidationError("Give one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
}
