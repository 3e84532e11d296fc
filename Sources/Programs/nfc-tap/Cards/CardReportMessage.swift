// SPDX-License-Identifier: Apache-2.0
import Explain

/// `nfc-tap read --json`.
struct CardReportMessage: Encodable {
    struct Application: Encodable {
        let aid: String
        let label: String?
        let scheme: String?
        let preferredName: String?
        let priority: Int
        let cardNumber: String?
        let expiry: String?
        let end: String
        let objects: [Object]?
    }

    struct Object: Encodable {
        let tag: String
        let name: String?
        let value: String?
        let length: Int
    }

    let applications: [Application]
    let end: String

    init(_ report: CardReport, all: Bool) {
        end = report.end
        applications = report.applications.map { application in
            Application(
                aid: application.aid, label: application.label, scheme: application.scheme,
                preferredName: application.preferredName, priority: application.priority,
                cardNumber: application.cardNumber, expiry: application.expiry, end: application.end,
                objects: all
                    ? application.objects.map {
                        Object(tag: $0.tag, name: $0.name, value: $0.value, length: $0.length)
                    } : nil)
        }
    }
}
