// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import TapClient

/// Tells a person what happens to one transaction.
actor Narrator {
    private let isSilent: Bool
    private var id: TransactionID?
    private var early: [Event] = []
    /// Whether only passes are read.
    private let readsPasses: Bool
    private let label: CommandLabel
    nonisolated let language: Language

    /// - Parameter language: BCP 47; English for what has no texts, and that of the locale where it is missing.
    init(
        isSilent: Bool, readsPasses: Bool = false, label: CommandLabel = .payment, language: String? = nil
    ) {
        self.isSilent = isSilent
        self.label = label
        self.readsPasses = readsPasses
        self.language = Language(option: language)
    }

    func take(_ event: Event) {
        guard let id else { return early.append(event) }
        if event.transaction == id { tell(event) }
    }

    func follow(_ transaction: Transaction) {
        id = transaction.id
        let mode = transaction.mode.progressText(in: language)
        say(readsPasses || transaction.type == .verification ? mode : "\(language.text(transaction.amount)), \(mode)")
        let waiting = early
        early = []
        for event in waiting where event.transaction == transaction.id { tell(event) }
    }

    func lost() {
        say(language.text(.progress(label == .payment && !readsPasses ? .paymentUnseen : .readingUnseen)))
    }

    private func tell(_ event: Event) {
        if let text = event.progressText(in: language, readsPasses: readsPasses) { say(text) }
    }

    private func say(_ text: String) {
        if !isSilent { StandardError.write("nfc-tap: \(text)\n") }
    }
}
