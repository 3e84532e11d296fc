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
    /// `params.terminal_id`, by which a page with several terminals says which one it asks about.
    let terminal: String?

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
        let params = index.index(of: "params", in: 0, span)
        func text(_ name: String) -> String? {
            params.flatMap { index.member(name, of: $0, in: span) }.flatMap { index.string($0, in: span) }
        }
        paymentInfo = text("payment_info")
        terminal = text("terminal_id")
    }
}

/// Why a start begins nothing. The till is told `false` and no more; the log says which field it was.
public enum ProxyRefusal: Error, Equatable, Sendable, CaseIterable {
    case notAPayment, mode, terminal, currency
    /// `currency_decimals` is above the currency's own.
    case currencyDecimals
    case amount, decimals, tooLarge
    /// `order_id`, `payment_id` or `terminal_id` is too long.
    case names
    /// The payment before it is told, or its end is not known yet.
    case busy
}

/// What a till wants paid, as `payment_info` says it.
struct ProxyPayment: Equatable, Sendable {
    let order: TillOrder

    /// Of the three parts of an identity, each. Known tills have up to 36 characters.
    static let longestName = 128

    /// - Throws: the reason for which nothing is begun.
    init(_ text: String, in currency: CurrencyCode, _ terminal: ProxyTerminalName) throws(ProxyRefusal) {
        let body = Array(text.utf8)
        let span = body.span
        let index: JSONIndex
        do throws(JSONIndexError) { index = try JSONIndex(span) } catch { throw .notAPayment }
        guard index.nodes.first?.kind == .object else { throw .notAPayment }
        func word(_ name: String) -> String? {
            index.member(name, in: span).flatMap { node -> String? in
                switch node.kind {
                case .string: index.string(node, in: span)
                case .number: String(decoding: body[node.value], as: UTF8.self)
                case .literal, .object, .array: nil
                }
            }
        }
        guard word("payment_mode") == "card" else { throw .mode }
        // It is kept for a long time.
        let names = ["order_id", "payment_id", "terminal_id"].map { word($0) }
        guard names.allSatisfy({ ($0?.utf8.count ?? 0) <= Self.longestName }) else { throw .names }
        guard terminal.isMeant(by: names[2]) else { throw .terminal }
        guard word("currency_iso") == currency.letters else { throw .currency }
        guard let amount = index.member("amount", in: span), amount.kind == .number else { throw .amount }
        let minor = try Self.minorUnits(
            String(decoding: body[amount.value], as: UTF8.self), word("currency_decimals"), currency)
        order = TillOrder(
            kind: .sale, amount: minor, currency: currency,
            identity: Self.identity(order: names[0], payment: names[1], names[2]))
    }

    /// The sum is in major units, whatever the decimals with which the till shows it: a shop may round to whole dollars.
    private static func minorUnits(
        _ amount: String, _ decimals: String?, _ currency: CurrencyCode
    ) throws(ProxyRefusal) -> Int64 {
        var shown = currency.exponent
        if let decimals {
            guard let number = Int(decimals), (0...currency.exponent).contains(number) else { throw .currencyDecimals }
            shown = number
        }
        var minor: Int64
        do throws(DecimalAmount.Fault) { minor = try DecimalAmount.minorUnits(amount, exponent: shown) } catch {
            switch error {
            case .notASum: throw .amount
            case .decimals: throw .decimals
            case .tooLarge: throw .tooLarge
            }
        }
        for _ in shown..<currency.exponent { minor *= 10 }
        guard minor > 0 else { throw .amount }
        guard minor <= CurrencyCode.largestAmount else { throw .tooLarge }
        return minor
    }

    /// Only both together are unique: the payment's id of older tills counts within its order.
    private static func identity(order: String?, payment: String?, _ terminal: String?) -> String? {
        guard let order, let payment, !order.isEmpty, !payment.isEmpty else { return nil }
        return [order, payment, terminal ?? ""].map { "\($0.utf8.count):\($0)" }.joined()
    }
}

/// How this terminal is called: by its number, or by the name of its lane.
struct ProxyTerminalName: Equatable, Sendable {
    let id: String
    let lane: String

    /// - Returns: whether a till that names a terminal, or none, means this one.
    func isMeant(by name: String?) -> Bool { name?.isEmpty != false || isNamed(by: name) }

    func isNamed(by name: String?) -> Bool {
        guard let name else { return false }
        return name == id || name == lane || UInt64(name).map { $0 == UInt64(id) } == true
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

    /// - Parameter untold: of this one nothing may be told, since nobody who waits for it has asked.
    static func status(terminal: String, _ attempts: [Attempt], untold: AttemptKey?) -> String {
        let transactions = attempts.map { "\"\($0.number)\":\(transaction($0, told: $0.key != untold))" }
            .joined(separator: ",")
        return """
            {"nfc_tap":{"status":"connected","is_terminal":true,"terminal_id":\(JSONEscape.quoted(terminal)),\
            "transactions":{\(transactions)}}}
            """
    }
}
