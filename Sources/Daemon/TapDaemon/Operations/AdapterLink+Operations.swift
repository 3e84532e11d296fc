// SPDX-License-Identifier: Apache-2.0
import Configuration
import LocalHTTP
import PSPAPI
import PaymentValues
import Transactions

/// A request for an operation, as it is sent each time.
struct OperationMessage: Sendable {
    /// Its own, which is the key too.
    let id: OperationID
    let payment: TransactionID
    /// Of the path: `captures` and the like.
    let call: String
    /// Byte for byte the same each time.
    let body: [UInt8]
}

/// What is asked of the payment service about a payment that it has approved.
extension AdapterLink {
    func send(_ message: OperationMessage, over connection: HTTPClientConnection) async -> OperationReply {
        var fields = HTTPFields()
        fields.set("Content-Type", "application/json")
        fields.set("Idempotency-Key", message.id.text)
        let request = HTTPClientRequest(
            .post, "/v1/authorizations/\(message.payment.text)/\(message.call)", fields: fields, body: message.body)
        do throws(HTTPClientError) {
            return operationReply(
                to: try await connection.begin(request, answerWithin: AdapterTimes().answer).answer())
        } catch {
            return error.isSafeToRepeat ? .notDelivered : .unusable
        }
    }

    /// Asks what became of an operation.
    func ask(about id: OperationID) async -> OperationReply {
        do throws(HTTPClientError) {
            return operationReply(
                to: try await client.send(
                    HTTPClientRequest(.get, "/v1/operations/\(id.text)"), answerWithin: times.query))
        } catch {
            return .unusable
        }
    }

    private func operationReply(to answer: HTTPClientAnswer) -> OperationReply {
        switch answer.status {
        case 200:
            do { return .answered(try WireJSON.decode(AdapterOperationAnswer.self, from: answer.body)) } catch {
                return .unusable
            }
        case 202, 409: return .running
        case 404: return .neverSeen
        // Misdirected: it was certainly not passed on.
        case 421: return .notDelivered
        case 422: return .otherBody
        // Say nothing about what becomes of this one.
        case 408, 425, 429: return .unusable
        case 400...499: return .refused
        default: return .unusable
        }
    }
}
