// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues
import Transactions

/// Links that customers pay by, and payments that other terminals take.
extension AdapterLink {
    /// Opens one, over a connection that stands.
    func open(
        _ request: LinkRequest, over connection: HTTPClientConnection?, within time: Duration
    ) async -> LinkReply {
        guard let body = try? WireJSON.encode(request) else { return .refused(.pspRefused) }
        do throws(HTTPClientError) {
            let connection = if let connection { connection } else { try await client.connect() }
            let message = post(request.to == nil ? "/v1/links" : "/v1/handovers", request.id.text, body)
            let answer = try await connection.begin(message, answerWithin: time).answer()
            switch answer.status {
            case 200: return linkReply(to: answer)
            // Whether these were carried out is not known.
            case 202, 404, 408, 409, 425, 429: return .unusable
            // Misdirected: it was certainly not passed on (RFC 9110, 15.5.20).
            case 421: return .refused(.pspUnreachable)
            case 400...499: return .refused(.pspRefused)
            default: return .unusable
            }
        } catch {
            // Nothing was written, or nobody knows how much: it is closed, opened or not.
            return error.isSafeToRepeat ? .neverSeen : .unusable
        }
    }

    /// Asks what became of one; `closing` wants it to be closed besides.
    func link(
        _ id: TransactionID, _ type: TransactionType, closing: Bool, within time: Duration
    ) async -> LinkReply {
        let place = type == .handover ? "handovers" : "links"
        do throws(HTTPClientError) {
            let answer = try await client.send(
                HTTPClientRequest(closing ? .delete : .get, "/v1/\(place)/\(id.text)"), answerWithin: time)
            switch answer.status {
            case 200: return linkReply(to: answer)
            case 404: return closing ? .unusable : .neverSeen
            default: return .unusable
            }
        } catch {
            return .unusable
        }
    }

    private func linkReply(to answer: HTTPClientAnswer) -> LinkReply {
        (try? WireJSON.decode(LinkAnswer.self, from: answer.body)).map { .answered($0) } ?? .unusable
    }
}
