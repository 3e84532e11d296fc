// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Receipt
import Testing

/// Transactions in every state that has a receipt.
enum ReceiptBench {
    static func transaction(
        _ state: TransactionState, _ change: (inout Transaction) -> Void = { _ in }
    ) throws -> Transaction {
        let euro = try #require(Currency("EUR"))
        // 2026-03-01T08:30:00Z.
        let at = Timestamp(milliseconds: 1_772_353_800_000)
        let request = try WireJSON.decode(
            TransactionRequest.self,
            from: Array(
                """
                {"type":"purchase","amount":{"value":1250,"currency":"EUR"},"order":"A-17","items":[
                {"label":"Coat hire","amount":{"value":1500,"currency":"EUR"}},
                {"label":"Voucher","amount":{"value":-250,"currency":"EUR"},"kind":"discount"}]}
                """.utf8))
        var transaction = Transaction(
            id: try #require(TransactionID("019ca883-3e40-7000-8000-000000000001")), type: .purchase, mode: .test,
            lane: "till-1", amount: Money(value: 1_250, currency: euro), order: "A-17", createdAt: at)
        transaction.details = TransactionDetails(
            request,
            merchant: Merchant(
                displayName: "Example Shop", statementDescriptor: "EXAMPLE SHOP", address: ["Main Street 1", "Berlin"]),
            terminal: "00000001")
        transaction.card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010")
        var chip = ChipData(entryMode: .contactlessEMV, verification: .none)
        chip.application = "VISA CREDIT"
        chip.aid = "A0000000031010"
        chip.cryptogram = "0102030405060708"
        chip.cryptogramInformation = "80"
        chip.tvr = "0000000000"
        chip.tsi = "0000"
        chip.counter = "0001"
        chip.sequenceNumber = "01"
        transaction.chip = chip
        transaction.state = state
        transaction.history = [.init(state: .created, at: at), .init(state: .sealed, at: at.advanced(bySeconds: 60))]
        var result = PaymentResult(mode: .test, outcome: .approved)
        result.approvalCode = "123456"
        result.responseCode = "00"
        result.pspReference = "SANDBOX-1"
        result.receiptURL = "https://receipts.example/1"
        transaction.result = result
        change(&transaction)
        return transaction
    }

    static func receipt(
        _ state: TransactionState, _ copy: Receipt.Copy = .customer, _ language: Language = .english,
        _ change: (inout Transaction) -> Void = { _ in }
    ) throws -> Receipt {
        try #require(Receipt(of: try transaction(state, change), copy: copy, language: language))
    }
}
