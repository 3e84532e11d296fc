// SPDX-License-Identifier: Apache-2.0
import Configuration
import LocalHTTP
import PaymentValues
import Profile

/// Which payment services can be asked, and how: the one in force, and those that the shop had before as far as the
/// configuration says where they are. A question goes to the service that it belongs to, and to no other one (rule R1).
struct PaymentServices: Sendable {
    /// What is begun now is for this one.
    let current: AskedService
    private let adapter: AdapterLink
    private let former: [String: ConfigurationFile.FormerService]

    init(_ snapshot: ConfigurationSnapshot, _ profile: Profile?) {
        let settings = OfflineSettings(snapshot.configuration, profile)
        current = AskedService(serviceName: settings.serviceName, socket: snapshot.adapter.client.path)
        adapter = snapshot.adapter
        former = settings.formerServices
    }

    /// The way to a service; `nil` where nobody has said where it is.
    ///
    /// - Parameter service: `nil` for what an earlier version of this program has begun, which knew one service only.
    func link(to service: AskedService?) -> AdapterLink? {
        guard let service, service != current else { return adapter }
        return former[service.serviceName]?.socket.map { AdapterLink(path: $0, times: adapter.times) }
    }

    /// Where what is stored for a service, and was never sent, goes.
    func service(ofStored serviceName: String) -> AskedService? {
        guard serviceName != current.serviceName else { return current }
        return former[serviceName]?.socket.map { AskedService(serviceName: serviceName, socket: $0) }
    }
}

/// Whom a transaction belongs to, with the way there.
struct ServiceRoute: Sendable {
    /// `nil` for what an earlier version of this program has begun.
    let service: AskedService?
    /// `nil` where nobody has said where it is: then nobody is asked.
    let link: AdapterLink?

    init(_ service: AskedService?, _ link: AdapterLink?) {
        self.service = service
        self.link = link
    }
}

extension ProfileStore {
    /// As configuration and profile have them now.
    var paymentServices: PaymentServices { PaymentServices(configured.snapshot, current) }
}

extension PaymentServices {
    /// The one that is in force, for what begins now.
    var route: ServiceRoute { ServiceRoute(current, adapter) }

    /// Whom an earlier question goes to.
    func route(_ service: AskedService?) -> ServiceRoute { ServiceRoute(service, link(to: service)) }
}
