// SPDX-License-Identifier: Apache-2.0
/// What a terminal tells a wallet after a read. Current phones show no effect of it.
///
/// Built after the one published sample; fields that it does not show are left out.
public struct SmartTapPush: Equatable, Sendable {
    /// The wallet is offered a pass.
    public struct NewService: Equatable, Sendable {
        /// As in the sample (05): one byte of service type.
        public var type: UInt8
        public var title: String
        /// Without `https://`.
        public var address: String

        public init(type: UInt8, title: String, address: String) {
            self.type = type
            self.title = title
            self.address = address
        }
    }

    /// A pass was used.
    public struct ServiceStatus: Equatable, Sendable {
        /// 8 bytes.
        public var objectID: [UInt8]
        /// One byte of usage; 01 in the sample.
        public var usage: UInt8
        public var title: String
        public var text: String
        /// One byte; 05 in the sample.
        public var update: UInt8

        public init(objectID: [UInt8], usage: UInt8, title: String, text: String, update: UInt8) {
            self.objectID = objectID
            self.usage = usage
            self.title = title
            self.text = text
            self.update = update
        }
    }

    /// ISO 4217 alphabetic code for the basket record.
    public var basketCurrency: String?
    public var newService: NewService?
    public var serviceStatus: ServiceStatus?

    public init(
        basketCurrency: String? = nil, newService: NewService? = nil, serviceStatus: ServiceStatus? = nil
    ) {
        self.basketCurrency = basketCurrency
        self.newService = newService
        self.serviceStatus = serviceStatus
    }

    func append(to message: inout NDEFWriter) {
        if let basketCurrency {
            message.append(external: "bpr") { basket in
                basket.append(.external, type: "mon", payload: [0x00])
                basket.append(.wellKnown, type: "T", id: "ccd", payload: Array(basketCurrency.utf8))
            }
        }
        if let newService {
            message.append(external: "nsr", prefix: [newService.type]) { service in
                service.append(.wellKnown, type: "T", id: "nst", payload: english(newService.title))
                service.append(.wellKnown, type: "U", id: "nsu", payload: [0x04] + Array(newService.address.utf8))
            }
        }
        if let serviceStatus {
            message.append(external: "ssr") { status in
                status.append(.external, type: "oid", payload: [0x04] + serviceStatus.objectID)
                status.append(external: "sug", prefix: [serviceStatus.usage]) { usage in
                    usage.append(.wellKnown, type: "T", id: "sut", payload: english(serviceStatus.title))
                    usage.append(.wellKnown, type: "T", id: "sud", payload: english(serviceStatus.text))
                }
                status.append(.external, type: "sup", payload: [serviceStatus.update])
            }
        }
    }

    private func english(_ text: String) -> [UInt8] { [0x02] + Array("en\(text)".utf8) }
}
