// SPDX-License-Identifier: Apache-2.0
import Configuration
import Help
import LocalHTTP
import POSAPI
import PaymentValues

extension PointOfSaleAPI {
    /// `GET /v1/help`, `GET /v1/help/{topic}`.
    func help(_ topic: String?, _ request: HTTPRequest) async throws(ErrorBody) -> HTTPResponse {
        let fields: HTTPFields = ["Content-Language": request.language.rawValue]
        guard let topic else { return .message(200, HelpTopicList(in: request.language), fields: fields) }
        guard let topic = HelpTopic(rawValue: topic) else { throw ErrorBody(.helpTopicUnknown) }
        let page = HelpPage(topic, in: request.language, lanes: await runner.laneStatuses())
        return .message(200, page, fields: fields)
    }

    /// `GET /v1/openapi.yaml`.
    var contract: HTTPResponse {
        HTTPResponse(status: 200, fields: ["Content-Type": "application/yaml"], body: .bytes(Contract.description))
    }

    /// Who asks, in which language, and under which names support finds the case.
    func audience(of request: HTTPRequest) async -> Audience {
        let lanes = await runner.laneStatuses()
        var lane = lanes.count == 1 ? lanes.first : nil
        if request.path.count >= 3, request.path[1] == "lanes" {
            lane = lanes.first { $0.name == request.path[2] }
        } else if request.path.count >= 3, request.path[1] == "transactions", let id = TransactionID(request.path[2]) {
            let name = await runner.books.live[id]?.transaction.lane
            lane = lanes.first { $0.name == name } ?? lane
        }
        let reader = lane?.reader.map { $0.serial ?? $0.name }
        return Audience(
            language: request.language,
            support: SupportReference(settings.snapshot.support, installation: support, reader: reader))
    }
}
