// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
public import Receipt

extension Receipt {
    /// Columns of usual receipt printers: 58 mm paper has 32, 80 mm paper 42 or 48.
    public static let widths = 32...48

    /// The receipt for a printer, lines of at most `width` characters, the last one ended.
    ///
    /// - Parameters:
    ///   - width: brought into `widths`.
    ///   - secondsFromUTC: of the shop's clock.
    ///   - withCode: draws the QR code in block characters; its address stands there where the paper is too narrow.
    public func text(width: Int = 42, secondsFromUTC: Int = 0, withCode: Bool = false) -> String {
        printed(width, secondsFromUTC, withCode ? .blocks : .address)
    }

    /// Where the customer reads the address.
    enum PrintedAddress {
        /// In letters.
        case address
        /// In a code of block characters; in letters where the paper is too narrow.
        case blocks
        /// In the code that the printer draws below the text.
        case printersCode
    }

    /// - Parameters:
    ///   - words: their language; the receipt's own where it is missing.
    ///   - letters: what is printed in place of a text.
    func printed(
        _ width: Int, _ secondsFromUTC: Int, _ address: PrintedAddress, in words: Language? = nil,
        letters: @escaping (String) -> String = { $0 }
    ) -> String {
        let words = ReceiptWords(words ?? Language(tag: language))
        var paper = ReceiptPaper(
            width: min(max(width, Receipt.widths.lowerBound), Receipt.widths.upperBound), in: words.language,
            letters: letters)
        printHead(words, secondsFromUTC, on: &paper)
        printSale(words, secondsFromUTC, on: &paper)
        printCard(words, on: &paper)
        printEnd(words, secondsFromUTC, address, on: &paper)
        return paper.text
    }

    private func printHead(_ words: ReceiptWords, _ secondsFromUTC: Int, on paper: inout ReceiptPaper) {
        if mode == .test { paper.centre(words[.test]) }
        if let merchant {
            paper.centre(merchant.payee)
            for line in merchant.address ?? [] { paper.centre(line) }
        }
        paper.blank()
        paper.centre(words.title(of: self))
        paper.centre(words.name(of: copy))
        paper.blank()
        paper.pair(words[.date], words.text(of: at, secondsFromUTC: secondsFromUTC))
        if let terminal { paper.pair(words[.terminal], terminal) }
        if let order { paper.pair(words[.order], order) }
        paper.pair(words[.number], transaction.text)
    }

    private func printSale(_ words: ReceiptWords, _ secondsFromUTC: Int, on paper: inout ReceiptPaper) {
        guard let amount else { return }
        paper.rule()
        if let sale {
            paper.pair(words[.ofSale], sale.transaction.text)
            paper.pair(words[.date], words.text(of: sale.at, secondsFromUTC: secondsFromUTC))
            if let order = sale.order { paper.pair(words[.order], order) }
            paper.pair(words[.total], words.text(of: sale.amount))
            paper.rule()
        }
        for item in items ?? [] {
            paper.pair(item.label, words.text(of: item.amount))
            if let note = words.note(on: item) { paper.left("  " + note) }
        }
        if let requested { paper.pair(words[.requested], words.text(of: requested)) }
        let isCaptured = account?.captured != nil
        if let held = account?.held, isCaptured || held != amount { paper.pair(words[.held], words.text(of: held)) }
        if let tip = account?.tip { paper.pair(words[.tip], words.text(of: tip)) }
        paper.pair(words.total(of: self), words.text(of: amount))
        let since: [(ReceiptWord, Money?)] = [
            (.released, status == .released ? nil : account?.released), (.pendingCapture, account?.pendingCapture),
            (.totalRefunded, account?.refunded), (.pendingRefund, account?.pendingRefund),
        ]
        for case (let word, let sum?) in since { paper.pair(words[word], words.text(of: sum)) }
        if let description { paper.left(words.text(of: description)) }
        if amountStatus == .pending { paper.left(words[.pending]) }
    }

    private func printCard(_ words: ReceiptWords, on paper: inout ReceiptPaper) {
        guard card != nil || emv != nil || approvalCode != nil || pspReference != nil else { return }
        paper.rule()
        if let card { paper.pair(card.scheme, card.masked) }
        if let emv {
            if let application = emv.application { paper.pair(words[.application], application) }
            if let aid = emv.aid { paper.pair("AID", aid) }
            paper.pair(words[.entry], words.name(of: emv.entryMode))
            paper.pair(words[.verification], words.name(of: emv.verification))
            paper.pair(words[.account], words[.defaultAccount])
        }
        if let code = approvalCode { paper.pair(words[.approvalCode], code) }
        if let code = emv?.responseCode { paper.pair("ARC", code) }
        if let cryptogram = emv?.cryptogram { paper.pair(emv?.cryptogramType ?? "AC", cryptogram) }
        if let tvr = emv?.tvr { paper.pair("TVR", tvr) }
        if let tsi = emv?.tsi { paper.pair("TSI", tsi) }
        if let counter = emv?.counter { paper.pair("ATC", counter) }
        if let number = emv?.sequenceNumber { paper.pair(words[.sequenceNumber], number) }
        if let reference = pspReference { paper.pair(words[.reference], reference) }
    }

    private func printEnd(
        _ words: ReceiptWords, _ secondsFromUTC: Int, _ address: PrintedAddress, on paper: inout ReceiptPaper
    ) {
        paper.rule()
        paper.centre(words.name(of: status, type))
        for line in words.explanation(of: self) { paper.centre(line) }
        if let payUntil { paper.pair(words[.payUntil], words.text(of: payUntil, secondsFromUTC: secondsFromUTC)) }
        if let reason { paper.centre(reason.text(in: words.language)) }
        if let unsupportedKernel {
            paper.pair(words[.notSupported], unsupportedKernel.scheme ?? unsupportedKernel.aid)
            if let kernel = unsupportedKernel.kernel { paper.pair(words[.kernel], kernel) }
        }
        if let message { paper.centre(words.text(of: message)) }
        if copy == .merchant, emv?.verification == .signature, status.isCharged {
            paper.blank()
            paper.pair(words[.signature], String(repeating: "_", count: 16))
        }
        // A payment service's lines are its own; a runaway one does not empty the roll.
        for line in (pspLines ?? []).prefix(40) { paper.left(line) }
        if let descriptor = merchant?.statementDescriptor, status.isCharged {
            paper.left("\(words[.statement]) \(descriptor)")
        }
        if let qr { printAddress(qr, address, words, on: &paper) }
        if mode == .test { paper.centre(words[.test]) }
    }

    /// Nothing asks to scan a code that is not there.
    private func printAddress(
        _ qr: String, _ address: PrintedAddress, _ words: ReceiptWords, on paper: inout ReceiptPaper
    ) {
        let code = address == .blocks ? QRCode(qr)?.blocks(columns: paper.width) : nil
        guard code != nil || address == .printersCode else {
            paper.centre(words[status == .open ? .payAt : .receiptAt])
            return paper.left(qr)
        }
        paper.centre(words[status == .open ? .scanToPay : .digital])
        if let code { paper.draw(code) }
    }
}
