// SPDX-License-Identifier: Apache-2.0
/// What a receiver's answer means for the outbox.
enum WebhookAnswer {
    /// Seconds for a whole answer.
    static let seconds = 15

    /// - Parameters:
    ///   - status: `nil` where there was no answer.
    ///   - retryAfter: the field's text; only whole seconds are obeyed, not a date (RFC 9110 §10.2.3).
    static func meaning(_ status: Int?, retryAfter: String? = nil) -> Outbox.Answer {
        switch status {
        case .some(200...299): .done
        case 410: .stop
        case 408, 425, 429, .some(500...599): .retry(after: retryAfter.flatMap { Int($0) })
        case .some(400...499): .refused
        // A redirect is never followed: a POST would become a GET, and the event would be lost.
        case .some, nil: .retry(after: nil)
        }
    }
}
