// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import ReaderCore

/// Reads a card for 12.50 EUR on the test terminal. An outcome is a value: a declined card is no error.
func readCard(
    on reader: any CardReader, _ date: EMVDate, _ time: EMVTime, _ numbers: UnpredictableNumbers, until end: TapInstant
) throws(ReaderError) -> FinalOutcome {
    let transaction = Transaction(
        amount: 1_250, currency: 978, exponent: 2, country: 276, date: date, time: time, sequenceCounter: 1)
    var machine = EntryPoint(configuration: .test, transaction: transaction, unpredictableNumbers: numbers)
    defer { reader.release() }
    return try drive(
        &machine, on: reader, deadlines: TapDeadlines(card: end), cancellation: TapCancellation(), onSignal: { _ in })
}
