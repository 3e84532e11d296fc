// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues

/// One call of the POS socket's API: what it is, who may make it, and what answers it. A row of `Route.all`, beside which nothing
/// says any of this.
struct Route: Sendable {
    /// What the caller's roles have to be, before the request is looked at.
    enum Right: Sendable {
        /// Anything: the call itself says more where there is more to say.
        case any
        /// One of these.
        case oneOf(Set<Role>)
        case administrator
        /// May charge stored cards.
        case charger
    }

    /// A request that has come to its row.
    struct Call: Sendable {
        let request: HTTPRequest
        let caller: Caller
        /// What the path has in place of its names in braces.
        let names: [String]

        /// The first of them; empty where the path has none.
        var name: String { names.first ?? "" }

        /// The transaction of the path.
        ///
        /// - Throws: `transaction.unknown` for what is no id.
        var transaction: TransactionID {
            get throws(ErrorBody) {
                guard let id = TransactionID(name) else { throw ErrorBody(.transactionUnknown) }
                return id
            }
        }

        /// The operation of the path.
        ///
        /// - Throws: `operation.unknown` for what is no id.
        var operation: OperationID {
            get throws(ErrorBody) {
                guard let id = OperationID(name) else { throw ErrorBody(.operationUnknown) }
                return id
            }
        }
    }

    typealias Answer = @Sendable (PointOfSaleAPI, Call) async throws(ErrorBody) -> HTTPResponse

    let method: HTTPMethod
    /// Components; one in braces stands for any.
    let path: [String]
    /// A parameter that has to be there for this row; without it the next row of the path is looked at.
    let key: String?
    let parameters: Set<String>
    /// May stand several times.
    let repeatable: Set<String>
    let right: Right
    /// For whom the call exists at all.
    let callers: Set<Caller.Kind>
    let answer: Answer

    /// - Parameters:
    ///   - path: without the slash in front, `v1/lanes/{lane}`; `?name` behind it is a parameter that has to be there.
    ///   - callers: besides programs and tills.
    init(
        _ method: HTTPMethod, _ path: String, _ parameters: Set<String> = [], repeatable: Set<String> = [],
        for right: Right, besides callers: Set<Caller.Kind> = [], _ answer: @escaping Answer
    ) {
        self.init(
            method, path, parameters, repeatable: repeatable, for: right, only: callers.union([.program, .till]), answer
        )
    }

    /// - Parameter callers: nobody else knows of the call.
    init(
        _ method: HTTPMethod, _ path: String, _ parameters: Set<String> = [], repeatable: Set<String> = [],
        for right: Right, only callers: Set<Caller.Kind>, _ answer: @escaping Answer
    ) {
        let parts = path.split(separator: "?")
        self.method = method
        self.path = parts.prefix(1).flatMap { $0.split(separator: "/").map(String.init) }
        key = parts.count > 1 ? String(parts[1]) : nil
        self.parameters = key.map { parameters.union([$0]) } ?? parameters
        self.repeatable = repeatable
        self.right = right
        self.callers = callers
        self.answer = answer
    }

    static let all = service + lanes + transactions + operations + days + queue + openItems + storedCards + machines

    /// What the path has for the row's names; `nil` for another path.
    private func names(in other: [String]) -> [String]? {
        guard path.count == other.count else { return nil }
        var names: [String] = []
        for (own, part) in zip(path, other) {
            if own.hasPrefix("{") { names.append(part) } else if own != part { return nil }
        }
        return names
    }

    /// The row of a request, once the caller may make the call and has written it as the row says.
    ///
    /// - Throws: `request.unknown_path`, `request.method_not_allowed` with the methods that the caller may use,
    ///   `auth.role_missing`, `auth.admin_required`, `request.invalid_parameter`.
    static func find(_ request: HTTPRequest, _ caller: Caller) throws(ErrorBody) -> (Route, Call) {
        guard caller.kind == .gateway || !caller.roles.isEmpty else { throw ErrorBody(.authRoleMissing) }
        let here = all.compactMap { route in route.names(in: request.path).map { (route, $0) } }
        let theirs = here.filter { $0.0.callers.contains(caller.kind) }
        let found = theirs.first { route, _ in
            route.method == request.method
                && route.key.map { key in request.query.contains { $0.name == key } } ?? true
        }
        guard let (route, names) = found else {
            // Who passes on what others ask for learns of no other call.
            guard caller.kind == .program || caller.kind == .till, theirs.isEmpty == here.isEmpty else {
                throw ErrorBody(.authRoleMissing)
            }
            guard !here.isEmpty else {
                let name = request.path.first == "v1" ? request.path.dropFirst().first : nil
                throw ErrorBody(.requestUnknownPath, field: FormerPath.remedy(name))
            }
            var refusal = ErrorBody(.requestMethodNotAllowed)
            for (route, _) in theirs where !refusal.allowedMethods.contains(route.method.rawValue) {
                refusal.allowedMethods.append(route.method.rawValue)
            }
            throw refusal
        }
        try route.check(request.query)
        try route.right.check(caller)
        return (route, Call(request: request, caller: caller, names: names))
    }

    private func check(_ query: [HTTPRequest.QueryItem]) throws(ErrorBody) {
        if let unknown = query.first(where: { !parameters.contains($0.name) }) {
            throw ErrorBody(.requestInvalidParameter, field: unknown.name.printable)
        }
        let single = query.map(\.name).filter { !repeatable.contains($0) }
        guard Set(single).count == single.count else { throw ErrorBody(.requestInvalidParameter) }
    }
}

extension Route.Right {
    static let cashier = Self.oneOf([.cashier])
    static let cashierOrLoyalty = Self.oneOf([.cashier, .loyalty])

    fileprivate func check(_ caller: Caller) throws(ErrorBody) {
        switch self {
        case .any: break
        case .oneOf(let roles):
            guard !caller.roles.isDisjoint(with: roles) else { throw ErrorBody(.authRoleMissing) }
        case .administrator:
            guard caller.roles.contains(.admin) else { throw ErrorBody(.authAdminRequired) }
        case .charger:
            guard caller.mayCharge else { throw ErrorBody(.authAdminRequired) }
        }
    }
}

extension String {
    /// What a client sent, fit for an answer.
    fileprivate var printable: String {
        String(decoding: utf8.prefix(64).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }
}
