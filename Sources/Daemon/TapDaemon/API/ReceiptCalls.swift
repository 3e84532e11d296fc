// SPDX-License-Identifier: Apache-2.0
import Linux
import LocalHTTP
import POSAPI
import PaymentValues
import Printing
import Receipt

extension PointOfSaleAPI {
    /// `GET /v1/transactions/{id}/receipt`.
    func receipt(
        _ id: TransactionID, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        let copy = try request.choice("copy", of: Receipt.Copy.self) ?? .customer
        let width = try request.width()
        let form = try request.receiptForm()
        let withCode = try request.choice("code", of: PrintedCode.self) == .blocks
        let transaction = try await known(id)
        try await requireOwn(id, caller)
        // The customer reads the language of the request; whoever keeps the other copy that of the till.
        let wished = copy == .customer ? transaction.details?.language : nil
        let language =
            try request.choice("language", of: Language.self) ?? wished.map { Language(tag: $0) } ?? request.language
        let operations = transaction.account == nil ? [] : try await desk.operations(of: id)
        var sale: Transaction?
        // Erased after its years, it is not named any more.
        if let original = transaction.of { sale = try? await known(original) }
        let receipt = Receipt(of: transaction, operations: operations, refunding: sale, copy: copy, language: language)
        guard let receipt else { throw ErrorBody(.receiptNotAvailable, transaction: id) }
        var fields: HTTPFields = ["Content-Language": language.rawValue]
        switch form {
        case .json: return .message(200, receipt, fields: fields)
        case .text:
            fields.set("Content-Type", "text/plain; charset=utf-8")
            let text = receipt.text(width: width, secondsFromUTC: receipt.secondsFromUTC, withCode: withCode)
            return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(text.utf8)))
        case .escPOS:
            let commands = receipt.escPOS(width: width, secondsFromUTC: receipt.secondsFromUTC)
            return HTTPResponse(status: 200, fields: fields.adding(form), body: .bytes(commands))
        case .svg, .png:
            guard let code = receipt.code else { throw ErrorBody(.receiptNoAddress, transaction: id) }
            let picture = form == .png ? code.png() : Array(code.svg.utf8)
            return HTTPResponse(status: 200, fields: fields.adding(form), body: .bytes(picture))
        }
    }
}

/// How a client wants a receipt. The pictures are of its QR code alone.
enum ReceiptForm: String {
    case json = "application/json"
    case text = "text/plain"
    case escPOS = "application/vnd.nfc-tap.escpos"
    case svg = "image/svg+xml"
    case png = "image/png"
}

/// Whether a text has the QR code drawn in it.
private enum PrintedCode: String {
    case none, blocks
}

extension HTTPFields {
    fileprivate func adding(_ form: ReceiptForm) -> HTTPFields {
        var fields = self
        fields.set("Content-Type", form.rawValue)
        return fields
    }
}

extension Receipt {
    fileprivate var secondsFromUTC: Int { LocalTime(at: Int(at.milliseconds / 1_000)).secondsFromUTC }
}

extension HTTPRequest {
    /// The language that a client prefers for errors, help and the like.
    var language: Language { Language(accepting: fields.all("Accept-Language").joined(separator: ",")) }

    /// A query parameter that is one of a few words.
    fileprivate func choice<Choice: RawRepresentable<String>>(
        _ name: String, of type: Choice.Type
    ) throws(ErrorBody) -> Choice? {
        guard let item = query.first(where: { $0.name == name }) else { return nil }
        guard let choice = Choice(rawValue: item.value) else {
            throw ErrorBody(.requestInvalidParameter, field: name)
        }
        return choice
    }

    fileprivate func width() throws(ErrorBody) -> Int {
        guard let item = query.first(where: { $0.name == "width" }) else { return 42 }
        guard let width = Int(item.value), Receipt.widths.contains(width) else {
            throw ErrorBody(.requestInvalidParameter, field: "width")
        }
        return width
    }

    /// By `Accept` (RFC 9110 §12.5.1): JSON, unless another form is named before it, or alone. Weights other than 0 are not
    /// compared: nobody sends several with an order of preference of its own.
    fileprivate func receiptForm() throws(ErrorBody) -> ReceiptForm {
        let ranges = fields.all("Accept").flatMap { $0.split(separator: ",") }
        if ranges.isEmpty { return .json }
        for range in ranges {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = parts.first, !parts.dropFirst().contains(where: { $0 == "q=0" || $0 == "q=0.0" }) else {
                continue
            }
            if ["application/*", "*/*"].contains(type) { return .json }
            if type == "text/*" { return .text }
            if let form = ReceiptForm(rawValue: type) { return form }
        }
        throw ErrorBody(.requestNotAcceptable, field: "Accept")
    }
}
