// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@Suite("What a request may say of its amount, items and applications")
struct RequestFieldTests {
    static func refusal(_ json: String) -> WireError? {
        do throws(WireError) {
            _ = try WireJSON.decode(TransactionRequest.self, from: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    static func request(_ type: String, _ more: String, value: Int = 1_000) -> String {
        #"{"type":"\#(type)","amount":{"value":\#(value),"currency":"EUR"},\#(more)}"#
    }

    static let goodOnes: [(type: String, description: String)] = [
        ("purchase", #"{"kind":"instalment","cycle":"monthly","amount":{"value":250,"currency":"EUR"},"payments":4}"#),
        ("purchase", #"{"kind":"membership","cycle":"yearly"}"#), ("purchase", #"{"kind":"preauthorization"}"#),
        ("purchase", #"{"kind":"preauthorizationAmount","amount":{"value":5000,"currency":"EUR"}}"#),
        ("purchase", #"{"kind":"surchargeAmount","amount":{"value":20,"currency":"EUR"}}"#),
        ("purchase", #"{"kind":"surchargePercent","percent":2.35}"#),
        ("purchase", #"{"kind":"surchargePercent","percent":1}"#),
        ("purchase", #"{"kind":"surchargePercent","percent":100}"#),
        ("refund", #"{"kind":"preauthorizationRelease"}"#),
    ]

    @Test("Each description is taken for its type of transaction and survives encoding", arguments: goodOnes)
    func descriptions(type: String, description: String) throws {
        let json = Self.request(type, #""description":\#(description)"#)
        let request = try WireJSON.decode(TransactionRequest.self, from: Array(json.utf8))
        #expect(request.description != nil)
        #expect(try WireJSON.decode(TransactionRequest.self, from: try WireJSON.encode(request)) == request)
    }

    @Test("Weak spot 2: a description of the other type is refused by name, never left out", arguments: goodOnes)
    func wrongType(type: String, description: String) {
        let other = type == "purchase" ? "refund" : "purchase"
        #expect(
            Self.refusal(Self.request(other, #""description":\#(description)"#))
                == WireError(.amountDescriptionConflict, field: "description"))
    }

    static let wrongOnes: [(json: String, code: ErrorCode, field: String)] = [
        (#""description":{"kind":"tip"}"#, .requestInvalidField, "description.kind"),
        (#""description":{"kind":"membership"}"#, .requestMissingField, "description.cycle"),
        (#""description":{"kind":"membership","cycle":"daily"}"#, .requestInvalidField, "description.cycle"),
        (
            #""description":{"kind":"membership","cycle":"weekly","percent":2}"#, .requestFieldNotApplicable,
            "description.percent"
        ),
        (#""description":{"kind":"preauthorization","sum":1}"#, .requestUnknownField, "description.sum"),
        (#""description":{"kind":"surchargePercent","percent":0.99}"#, .requestInvalidField, "description.percent"),
        (#""description":{"kind":"surchargePercent","percent":100.01}"#, .requestInvalidField, "description.percent"),
        (#""description":{"kind":"surchargePercent","percent":2.355}"#, .requestInvalidField, "description.percent"),
        (#""description":{"kind":"surchargePercent","percent":"2"}"#, .requestInvalidField, "description.percent"),
        (
            #""description":{"kind":"surchargeAmount","amount":{"value":1001,"currency":"EUR"}}"#,
            .amountDescriptionConflict, "description"
        ),
        (
            #""description":{"kind":"surchargeAmount","amount":{"value":10,"currency":"USD"}}"#,
            .amountDescriptionConflict, "description"
        ),
        (
            #""description":{"kind":"preauthorizationAmount","amount":{"value":0,"currency":"EUR"}}"#,
            .amountDescriptionConflict, "description"
        ),
        (
            #""amountStatus":"final","description":{"kind":"preauthorization"}"#, .amountDescriptionConflict,
            "description"
        ),
        (
            #""description":{"kind":"instalment","cycle":"monthly","amount":{"value":1,"currency":"EUR"},"payments":1}"#,
            .requestInvalidField, "description.payments"
        ),
        (#""preferredApplications":[]"#, .requestInvalidField, "preferredApplications"),
        (#""preferredApplications":["A0000000"]"#, .requestInvalidField, "preferredApplications"),
        (#""preferredApplications":["A000000003","a000000003"]"#, .requestInvalidField, "preferredApplications"),
        (#""preferredApplications":["A00000000310100"]"#, .requestInvalidField, "preferredApplications"),
        (#""preferredApplications":["VISA000000"]"#, .requestInvalidField, "preferredApplications"),
        (
            #""preferredApplications":["A000000003","A000000004","A000000005","A000000025","A000000065"]"#,
            .requestInvalidField, "preferredApplications"
        ),
        (
            #""preferredApplications":["A0000000031010101010101010101010FF"]"#, .requestInvalidField,
            "preferredApplications"
        ),
        (#""dryRun":"yes""#, .requestInvalidField, "dryRun"),
    ]

    @Test("A wrong description, preference or dry run is refused with the member's name", arguments: wrongOnes)
    func refused(json: String, code: ErrorCode, field: String) {
        #expect(Self.refusal(Self.request("purchase", json)) == WireError(code, field: field))
    }

    @Test("Up to four AIDs and RIDs are taken in any case of letters and keep their order")
    func applications() throws {
        let json = Self.request(
            "purchase", #""preferredApplications":["a0000000041010","A000000003","A00000000430600102030405060708090A"]"#
        )
        #expect(Self.refusal(json)?.field == "preferredApplications")
        let good = Self.request("purchase", #""preferredApplications":["a0000000041010","A000000003"]"#)
        let request = try WireJSON.decode(TransactionRequest.self, from: Array(good.utf8))
        #expect(request.preferredApplications == ["A0000000041010", "A000000003"])
    }

    static func items(_ items: String, status: String? = nil) -> String {
        request("purchase", (status.map { #""amountStatus":"\#($0)","# } ?? "") + #""items":[\#(items)]"#)
    }

    static func item(_ more: String, value: Int = 1_000) -> String {
        #"{"label":"A","amount":{"value":\#(value),"currency":"EUR"}\#(more)}"#
    }

    static let kindsOfItems: [(json: String, code: ErrorCode?, field: String?)] = [
        (items(item(#","kind":"charge""#)), nil, nil), (items(item(#","kind":"donation""#)), nil, nil),
        (items(item(#","kind":"recurring","frequency":"monthly""#)), nil, nil),
        (items(item(#","kind":"recurring","frequency":"weekly","begins":"2028-02-29""#)), nil, nil),
        (items(item("") + "," + item(#","kind":"deferred","begins":"2027-01-31""#)), nil, nil),
        (items(item("") + "," + item(#","kind":"deferred""#, value: 5_000)), nil, nil),
        (items(item(#","kind":"deferred""#)), .amountItemsMismatch, "items"),
        (items(item("") + "," + item(#","kind":"deferred""#, value: .max)), nil, nil),
        (items(item(#","kind":"pending""#), status: "pending"), nil, nil),
        (items(item(#","kind":"pending""#), status: "preauthorized"), nil, nil),
        (items(item(#","kind":"pending""#)), .amountDescriptionConflict, "items"),
        (items(item(#","kind":"pending""#), status: "final"), .amountDescriptionConflict, "items"),
        (items(item(#","kind":"recurring""#)), .requestMissingField, "items[0].frequency"),
        (items(item(#","frequency":"monthly""#)), .requestFieldNotApplicable, "items[0].frequency"),
        (items(item(#","begins":"2027-01-31""#)), .requestFieldNotApplicable, "items[0].begins"),
        (items(item(#","kind":"deferred","begins":"2027-02-29""#)), .requestInvalidField, "items[0].begins"),
        (items(item(#","kind":"deferred","begins":"31.01.2027""#)), .requestInvalidField, "items[0].begins"),
        (
            items(item("") + "," + item(#","kind":"recurring","frequency":"monthly""#, value: 0)), .requestMissingField,
            "items[1].begins"
        ),
        (items(item(#","kind":"gift""#)), .requestInvalidField, "items[0].kind"),
    ]

    @Test(
        "Requirements 41, 45, 51 and 54: kinds of items say how often, from when and whether the sum is final",
        arguments: kindsOfItems)
    func kinds(json: String, code: ErrorCode?, field: String?) {
        #expect(Self.refusal(json) == code.map { WireError($0, field: field) })
    }

    @Test("Requirement 42: a label has at most 32 characters in one line")
    func labels() {
        let label = { (text: String) in
            Self.refusal(
                Self.items(#"{"label":"\#(text)","amount":{"value":1000,"currency":"EUR"}}"#))?.field
        }
        #expect(label(String(repeating: "ä", count: 32)) == nil)
        #expect(label(String(repeating: "a", count: 33)) == "items[0].label")
        #expect(label(#"a\nb"#) == "items[0].label")
    }
}
