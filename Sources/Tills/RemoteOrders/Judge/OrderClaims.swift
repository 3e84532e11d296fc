// SPDX-License-Identifier: Apache-2.0
import Crypto
import StrictJSON

/// The claims of an order: one JSON object in which no name comes twice.
struct OrderClaims {
    private let bytes: [UInt8]
    private let index: JSONIndex

    /// - Throws: `.malformed` for anything that two readers could read differently.
    init(_ payload: [UInt8]) throws(OrderRefusal) {
        bytes = payload
        do throws(JSONIndexError) { index = try JSONIndex(payload.span) } catch { throw .malformed }
        guard index.nodes.first?.kind == .object else { throw .malformed }
    }

    /// SHA-256 of all of it, in hexadecimal.
    var digest: String {
        SHA256.hash(data: bytes).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    var names: Set<String> { names(of: 0) }

    func text(_ name: String, or refusal: OrderRefusal) throws(OrderRefusal) -> String {
        guard let text = text(name, of: 0) else { throw refusal }
        return text
    }

    /// Seconds since 1970.
    func time(_ name: String) throws(OrderRefusal) -> Int64 {
        guard let number = number(name, of: 0), number < 1 << 40 else { throw .malformed }
        return number
    }

    /// What is to be paid.
    func start() throws(OrderRefusal) -> Order.Start {
        let span = bytes.span
        guard let request = index.index(of: "request", in: 0, span), index.nodes[request].kind == .object else {
            throw .malformed
        }
        // A lane that is missing is no lane of the sender's; one that is no text is not understood.
        guard let lane = index.member("lane", in: span).map({ index.string($0, in: span) }) ?? "" else {
            throw .malformed
        }
        guard names(of: request).isDisjoint(with: Self.ofBridge) else { throw .unknownMember }
        guard let type = text("type", of: request) else { throw .malformed }
        let value: Int64?
        let currency: String?
        if let amount = index.index(of: "amount", in: request, span) {
            (value, currency) = (number("value", of: amount), text("currency", of: amount))
        } else if type == "verification" {
            (value, currency) = (0, text("currency", of: request))
        } else {
            // What leaves its amount to another payment has none that a limit could be held against.
            (value, currency) = (0, "")
        }
        guard let value, let currency else { throw .malformed }
        return Order.Start(
            lane: lane, request: String(decoding: bytes[index.nodes[request].value], as: UTF8.self), type: type,
            value: value, currency: currency, confirms: names(of: request).contains("confirmWithin"))
    }

    /// Members that the bridge adds, and those that would go round it.
    private static let ofBridge: Set<String> = [
        "lane", "lanes", "group", "deadline", "detached", "dryRun", "notAfter",
    ]

    /// What an order of this purpose may not have, as the sender finds it: `colour`, `request.deadline`.
    func strangers(beside own: Set<String>) -> [String] {
        let nested = index.index(of: "request", in: 0, bytes.span).map { names(of: $0) } ?? []
        return names.subtracting(own).sorted() + nested.intersection(Self.ofBridge).sorted().map { "request.\($0)" }
    }

    private func names(of parent: Int) -> Set<String> {
        Set(index.children(of: parent).map { String(decoding: bytes[index.nodes[$0].name], as: UTF8.self) })
    }

    private func text(_ name: String, of parent: Int) -> String? {
        let span = bytes.span
        return index.member(name, of: parent, in: span).flatMap { index.string($0, in: span) }
    }

    private func number(_ name: String, of parent: Int) -> Int64? {
        let span = bytes.span
        return index.member(name, of: parent, in: span).flatMap { index.integer($0, in: span) }.flatMap {
            Int64(exactly: $0)
        }
    }
}
