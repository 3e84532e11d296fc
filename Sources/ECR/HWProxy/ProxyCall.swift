// SPDX-License-Identifier: Apache-2.0
import Codes
import StrictJSON

/// The body of a call: JSON-RPC 2.0.
struct ProxyCall: Equatable, Sendable {
    enum Failure: Error, Equatable, Sendable {
        case notJSON, notACall, tooLong
    }

    static let longest = 65_536

    /// As it stands in the answer: a number, a text between quotes, or `null`.
    let id: String
    /// `params.payment_info`, which is a text that holds JSON.
    let paymentInfo: String?

    init(_ body: [UInt8]) throws(Failure) {
        guard body.count <= Self.longest else { throw .tooLong }
        let span = body.span
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(span) } catch { throw .notJSON }
        guard index.nodes.first?.kind == .object else { throw .notACall }
        guard let version = index.member("jsonrpc", in: span), index.string(version, in: span) == "2.0" else {
            throw .notACall
        }
        guard let node = index.member("id", in: span), node.value.count <= 64 else { throw .notACall }
        switch node.kind {
        case .number: id = String(decoding: body[node.value], as: UTF8.self)
        case .string:
            guard let text = index.string(node, in: span) else { throw .notACall }
            id = JSONEscape.quoted(text)
        case .literal where node.value.count == 4 && body[node.value].first == UInt8(ascii: "n"): id = "null"
        case .literal, .object, .array: throw .notACall
        }
        guard let params = index.index(of: "params", in: 0, span) else {
            paymentInfo = nil
            return
        }
        paymentInfo = index.member("payment_info", of: params, in: span).flatMap { index.string($0, in: span) }
    }
}

/// What a till wants paid, as `payment_info` says it.
struct ProxyPayment: Equatable, Sendable {
    let order: TillOrder

    /// Of the three parts of an identity, each. Known tills have up to 36 characters.
    static let longestName = 128

    /// - Returns: `nil` for whatever cannot be a payment by card: nothing is begun.
    init?(_ text: String, in currency: CurrencyCode) {
        let body = Array(text.utf8)
        let span = body.span
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(span) } catch { return nil }
        guard index.nodes.first?.kind == .object else { return nil }
        func word(_ name: String) -> String? {
            index.member(name, in: span).flatMap { node -> String? in
                switch node.kind {
                case .string: index.string(node, in: span)
                case .number: String(decoding: body[node.value], as: UTF8.self)
                case .literal, .object, .array: nil
                }
            }
        }
        guard word("payment_mode") == "card", word("currency_iso") == currency.letters,
            let amount = index.member("amount", in: span), amount.kind == .number,
            let minor = DecimalAmount.minorUnits(
                String(decoding: body[amount.value], as: UTF8.self), exponent: currency.exponent), minor > 0
        else { return nil }
        // Decimals that differ from the currency's own would say that the two sides mean different sums.
        if let decimals = word("currency_decimals"), decimals != String(currency.exponent) { return nil }
        // It is kept for a long time.
        let names = ["order_id", "payment_id", "terminal_id"].map { word($0) }
        guard names.allSatisfy({ ($0?.utf8.count ?? 0) <= Self.longestName }) else { return nil }
        order = TillOrder(
            kind: .sale, amount: minor, currency: currency,
            identity: Self.identity(order: names[0], payment: names[1], names[2]))
    }

    /// Only both together are unique: the payment's id of older tills counts within its order.
    private static func identity(order: String?, payment: String?, _ terminal: String?) -> String? {
        guard let order, let payment, !order.isEmpty, !payment.isEmpty else { return nil }
        return [order, payment, terminal ?? ""].map { "\($0.utf8.count):\($0)" }.joined()
    }
}

/// The objects that a till gets.
enum ProxyAnswer {
    /// - Parameter told: whether what became of it may stand there; an answer to a start says nothing of it.
    static func transaction(_ attempt: Attempt, told: Bool) -> String {
        var success = "null"
        if told {
            switch attempt.phase {
            case .telling, .told, .confirmed: success = "true"
            case .running, .givenUp, .approved: break
            case .notPaid, .takingBack, .takenBack, .reversing, .reversed: success = "false"
            }
        }
        let status = told ? attempt.refusal?.text.map(JSONEscape.quoted) : nil
        let reference = success == "true" ? attempt.approval.map { JSONEscape.quoted($0.reference) } : nil
        return """
            {"transaction_id":\(attempt.number),"success":\(success),"status":\(status ?? "null"),\
            "status_details":null,"reference":\(reference ?? "null")}
            """
    }

    static func status(terminal: String, _ attempts: [Attempt]) -> String {
        let transactions = attempts.map { "\"\($0.number)\":\(transaction($0, told: true))" }.joined(separator: ",")
        return """
            {"nfc_tap":{"status":"connected","is_terminal":true,"terminal_id":\(JSONEscape.quoted(terminal)),\
            "transactions":{\(transactions)}}}
            """
    }
}
