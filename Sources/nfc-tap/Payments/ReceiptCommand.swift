// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Receipt
import TapClient
import Wire

struct ReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt", abstract: "Prints the receipt of a transaction.",
        discussion: """
            The customer's copy is in the language of the sale, the merchant's in English; --language changes that. --qr \
            prints the address for a QR code, if the payment service gives one.
            """)

    @Argument(help: ArgumentHelp("The transaction's id.", valueName: "id"))
    var id: String

    @Option(help: ArgumentHelp("Which copy: customer or merchant.", valueName: "copy"), transform: { try choice($0) })
    var copy = Receipt.Copy.customer

    @Flag(help: "Select the form of the receipt; default: --text.")
    var form = ReceiptForm.text

    @Option(help: ArgumentHelp("Number of the printer's columns, 32 to 48.", valueName: "number"))
    var width = 42

    @Option(help: ArgumentHelp("Language of the text: en or de.", valueName: "language"), transform: { try choice($0) })
    var language: Language?

    @OptionGroup var daemon: DaemonChoice

    func validate() throws {
        guard Receipt.widths.contains(width) else { throw ValidationError("--width takes 32 to 48.") }
    }

    func run() async throws {
        guard let id = TransactionID(id) else {
            throw ValidationError("\(self.id) is not a transaction id; give a UUID.")
        }
        try await form.print(id, copy, language, width, with: daemon.client)
    }
}

/// The form in which a command prints a receipt.
enum ReceiptForm: String, EnumerableFlag, ExpressibleByArgument {
    case text, json, qr

    func print(
        _ id: TransactionID, _ copy: Receipt.Copy = .customer, _ language: Language? = nil, _ width: Int = 42,
        with client: TapClient
    ) async throws {
        do {
            switch self {
            case .text:
                let text = try await client.receiptText(of: id, copy: copy, language: language, width: width)
                StandardOutput.print(String(text.dropLast(text.last == "\n" ? 1 : 0)))
            case .json:
                try StandardOutput.print(json: try await client.receipt(of: id, copy: copy, language: language))
            case .qr:
                guard let address = try await client.receipt(of: id, language: language).qr else {
                    throw Failure(
                        "no digital receipt",
                        hint: "print the receipt with --text: the payment service gave no address",
                        exitCode: .notCompleted)
                }
                StandardOutput.print(address)
            }
        } catch let error as TapClientError {
            throw Failure(error)
        }
    }
}

/// An argument that must be one of a few words.
func choice<Choice: RawRepresentable<String> & CaseIterable>(_ text: String) throws -> Choice {
    guard let choice = Choice(rawValue: text) else {
        throw ValidationError("Give one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
}
