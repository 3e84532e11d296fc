// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

/// Body of `POST /v1/display/receipt`: `{"word":"…","to":{"email":"…"}}`. It is shown in no log: `to` has an address.
struct DisplayReceipt: Decodable, Sendable {
    /// The word of the view.
    let word: String
    let to: ReceiptRequest

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case word, to
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        word = try members.decode(String.self, forKey: .word)
        to = try members.decode(ReceiptRequest.self, forKey: .to)
    }
}

extension DisplayReceipt: CustomStringConvertible, CustomReflectable {
    var description: String { "receipt to an address" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
