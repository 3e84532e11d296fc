// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import PaymentValues
import Testing

@testable import TapDaemon

/// What docs/openapi.yaml says of each call: which statuses it answers with, and which error codes.
///
/// Reads that file's own way of writing YAML, not every one.
struct WrittenContract {
    struct Operation {
        let method: String
        /// Components of the path; a parameter has braces.
        let path: [String]
        var id = ""
        /// Those that are named; any other error is in `shared`.
        var statuses: Set<Int> = []
        var codes: Set<String> = []
        /// Parameters of the query.
        var parameters: Set<String> = []
    }

    private(set) var operations: [Operation] = []
    /// Codes that any call may be answered with.
    private(set) var shared: Set<String> = []
    /// Codes that a gateway answers with by itself.
    private(set) var gateway: Set<String> = []
    /// Codes of errors that are told inside something else: a transaction, a lane, an event.
    private(set) var told: Set<String> = []

    static let current = WrittenContract(String(decoding: Contract.description, as: UTF8.self))

    init(_ text: String) {
        var (path, place, parameter) = ("", "", "")
        var list: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            let word = line.drop { $0 == " " }
            let depth = line.count - word.count
            if let open = list {
                list = open + word
            } else if let codes = word.dropping("x-error-codes: ") {
                list = String(codes)
            } else if depth == 2, word.hasPrefix("/") {
                path = String(word.dropLast())
            } else if depth == 4, word.hasSuffix(":") {
                place = String(word.dropLast())
                guard ["get", "put", "post", "delete"].contains(place) else { continue }
                operations.append(
                    Operation(method: place.uppercased(), path: path.split(separator: "/").map(String.init)))
            } else if depth == 6, let id = word.dropping("operationId: ") {
                operations[operations.count - 1].id = String(id)
            } else if depth == 8, let name = word.dropping("- name: ") {
                parameter = String(name)
            } else if depth == 10, word == "in: query" {
                operations[operations.count - 1].parameters.insert(parameter)
            } else if depth == 8, word.first == "\"", let status = Int(word.dropFirst().prefix(3)) {
                operations[operations.count - 1].statuses.insert(status)
            }
            guard let whole = list, whole.hasSuffix("]") else { continue }
            list = nil
            keep(Set(whole.split { "[], ".contains($0) }.map(String.init)), at: place)
        }
    }

    private mutating func keep(_ codes: Set<String>, at place: String) {
        switch place {
        case "Other": shared = codes
        case "Gateway": gateway = codes
        case "Error": told = codes
        default: operations[operations.count - 1].codes = codes
        }
    }

    /// The call that a request is; `nil` where there is none.
    func operation(_ method: String, _ path: [String]) -> Operation? {
        operations.first {
            $0.method == method && $0.path.count == path.count
                && zip($0.path, path).allSatisfy { $0.0.hasPrefix("{") || $0.0 == $0.1 }
        }
    }

    /// Whether an answer is one that the contract knows; `nil`, or what is wrong with it.
    func complaint(_ request: HTTPClientRequest, _ answer: HTTPClientAnswer) -> String? {
        let target = request.target.split(separator: "?")[0]
        let call = "\(request.method.rawValue) \(target)"
        let path = target.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let found = operation(request.method.rawValue, path.map(String.init))
        guard answer.status >= 400 else {
            return found?.statuses.contains(answer.status) == true ? nil : "\(call): \(answer.status) is not described"
        }
        guard let code = try? WireJSON.decode(ErrorBody.self, from: answer.body).error.code else {
            return "\(call): an error of another form"
        }
        let isKnown = shared.contains(code) || found?.codes.contains(code) == true
        return isKnown ? nil : "\(call): \(code) is not in its x-error-codes"
    }
}

extension Substring {
    fileprivate func dropping(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}
