// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues

/// What the sandbox answers, before it is put on the wire, and how it is to be spoilt there.
struct SandboxAnswer: Codable, Equatable, Sendable {
    var status: Int
    var body: [UInt8]
    var fault: AmountRule.Fault?
    /// Nothing was carried out, and the connection closes without an answer.
    var isLost = false
    /// The authorisation or the operation that a client learns of by this answer.
    var transaction: TransactionID?
    var operation: OperationID?

    init(status: Int, body: [UInt8], fault: AmountRule.Fault? = nil) {
        self.status = status
        self.body = body
        self.fault = fault
    }

    init(_ status: Int = 200, _ message: some Encodable, fault: AmountRule.Fault? = nil) {
        do throws(WireError) {
            self.init(status: status, body: try WireJSON.encode(message), fault: fault)
        } catch {
            self.init(status: 500, body: [])
        }
    }

    /// The answer to an authorisation.
    init(_ answer: AuthorizationAnswer, to transaction: TransactionID, fault: AmountRule.Fault? = nil) {
        self.init(200, answer, fault: fault)
        self.transaction = transaction
    }

    /// The final answer to an operation.
    init(_ answer: AdapterOperationAnswer, fault: AmountRule.Fault? = nil) {
        self.init(200, answer, fault: fault)
        operation = answer.id
    }

    static var lost: SandboxAnswer {
        var answer = SandboxAnswer(status: 500, body: [])
        answer.isLost = true
        return answer
    }

    static func error(_ status: Int, _ code: ErrorCode, field: String? = nil) -> SandboxAnswer {
        SandboxAnswer(status, ErrorBody(code, field: field))
    }

    static func refusal(_ error: WireError) -> SandboxAnswer { SandboxAnswer(400, ErrorBody(error)) }

    /// Not known: neither that it was carried out nor that it was not. Never 404.
    static var storeFailed: SandboxAnswer { .error(503, .storageFailed) }

    /// Whether a client can make sense of it.
    var isProper: Bool {
        switch fault {
        case nil, .slow, .late, .answersTwice: !isLost
        case .serverError, .closesMidBody, .garbage, .neverAnswers: false
        }
    }

    var response: HTTPResponse {
        if isLost { return HTTPResponse(status: status, body: .verbatim([])) }
        return switch fault {
        case .answersTwice: HTTPResponse(status: status, body: .verbatim(whole + whole))
        case .closesMidBody: HTTPResponse(status: status, body: .verbatim(whole.dropLast(body.count / 2)))
        case .garbage: .json(status, Array(#"{"outcome": appro"#.utf8) + [0xFF, 0x00])
        case nil, .serverError, .slow, .neverAnswers, .late: .json(status, body)
        }
    }

    private var whole: [UInt8] {
        Array("HTTP/1.1 \(status) OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
            + body
    }
}
