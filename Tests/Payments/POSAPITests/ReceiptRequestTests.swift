// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@Suite("Where a customer wants the receipt")
struct ReceiptRequestTests {
    private func refusal(_ json: String) -> WireError? {
        do throws(WireError) {
            _ = try WireJSON.decode(ReceiptRequest.self, from: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Row 24 of the guidance: addresses as people have them are taken (RFC 5321, RFC 6531)",
        arguments: [
            "ada@example.com", "a.b+till@mail.example.co.uk", "o'neil@example.org", "jörg@bücher.example", "用户@例子.广告",
        ])
    func email(_ address: String) {
        #expect(refusal(#"{"email":"\#(address)"}"#) == nil)
    }

    @Test(
        arguments: [
            "", "ada", "ada@", "@example.com", "ada@example", "ada@.com", "ada@example.", "a@b@example.com",
            "a da@example.com",
            "ada@example.com\\nBcc: eve@example.com", "ada,eve@example.com", "Ada <ada@example.com>",
        ])
    func `what is none, or could be two, is refused by the name of its field`(_ address: String) {
        #expect(refusal(#"{"email":"\#(address)"}"#)?.field == "email")
    }

    @Test func `a telephone number has its country, and digits only (ITU-T E_164)`() {
        #expect(refusal(#"{"phone":"+4915112345678"}"#) == nil)
        for number in ["015112345678", "+0151123456", "+49 151 123456", "+123456", "+1234567890123456", "+49٣٤٥٦٧٨٩"] {
            #expect(refusal(#"{"phone":"\#(number)"}"#)?.field == "phone", "\(number)")
        }
        #expect(refusal(#"{"phone":"+4915112345678","email":"ada@example.com"}"#)?.field == "email")
        #expect(refusal("{}")?.field == "email")
    }

    @Test func `no description shows it`() {
        let wish = ReceiptRequest(.email("ada@example.com"))
        #expect(!"\(wish) \(String(reflecting: wish))".contains("ada"))
        var text = ""
        dump(wish, to: &text)
        #expect(!text.contains("ada"))
    }
}
