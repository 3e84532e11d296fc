import Journal
import LocalHTTP
import Wire

/// The calls under `/v1/queue`. Cashiers see the queue and hasten it; batches are for administrators.
extension PointOfSaleAPI {
    func answerAboutQueue(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ roles: Set<Role>
    ) async throws(ErrorBody) -> HTTPResponse {
        try roles.require(path.first == "batches" ? .admin : .cashier)
        switch (path.count, path.first) {
        case (0, _):
            try request.only(.get, parameters: [])
            return .message(200, try await payments.reading { () throws(JournalError) in try await payments.status() })
        case (1, "flush"):
            try request.only(.post, parameters: [])
            return .message(202, try await payments.flush())
        case (1, "batches"):
            try request.only(.post, parameters: [])
            let size = request.body.isEmpty ? nil : try request.message(BatchRequest.self).size
            return .message(201, try await payments.openBatch(size: size ?? Limits.batchSize.upperBound))
        case (2, "batches"):
            try request.only(.get, parameters: [])
            return .message(200, try await payments.batch(path[path.startIndex + 1]))
        case (3, "batches") where path.last == "reset":
            try request.only(.post, parameters: [])
            return .message(200, try await payments.reset(path[path.startIndex + 1]))
        case (3, "batches") where path.last == "resolve":
            try request.only(.post, parameters: [])
            let token = try request.message(BatchResolution.self).token
            return .message(200, try await payments.resolve(path[path.startIndex + 1], token: token))
        default:
            throw ErrorBody(.requestUnknownPath)
        }
    }
}
