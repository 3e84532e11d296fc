// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Linux
import POSAPI
import PaymentValues
import TapClient

/// What a person calls a payment by: its id, or the number before it in a list and on its receipt.
enum PaymentName: Equatable {
    case id(TransactionID)
    case number(Int64)

    /// - Throws: `ValidationError` for what is neither.
    init(_ text: String) throws {
        if let id = TransactionID(text) {
            self = .id(id)
        } else if (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text)
        {
            self = .number(number)
        } else {
            throw ValidationError(
                "\(text.shown) is no payment; give the id, or the number that nfc-tap list shows before it.")
        }
    }

    /// The id; asks the daemon for that of a number.
    ///
    /// - Throws: `Failure` where the daemon has none of this number, or cannot be asked.
    func id(with client: TapClient) async throws -> TransactionID {
        switch self {
        case .id(let id): return id
        case .number(let number):
            var filter = TransactionFilter()
            filter.number = number
            let found: [Transaction]
            do throws(TapClientError) {
                found = try await client.transactions(filter, limit: 2).transactions
            } catch {
                throw Failure(error)
            }
            guard let payment = found.first, found.count == 1, payment.number == number else {
                throw Failure(
                    in: .spoken, .noNumber, [.code: "\(number)"], hint: .seeNumbers, [.command: "nfc-tap list"],
                    exitCode: .malformedInput, code: ErrorCode.transactionUnknown.rawValue)
            }
            return payment.id
        }
    }
}
