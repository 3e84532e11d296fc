// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Logging
import PINDevice
import PINDeviceAPI
import PaymentValues
import TapSession
import Transactions

/// A lane's PIN device for one transaction: looked at as the lane is armed, so that a terminal announces an online PIN only
/// where one can be had in that moment.
struct PINDeviceSlot: Sendable {
    let name: String
    let settings: PINDeviceSettings
    let offer: PINDeviceOffer
    /// The payment service goes on with the same read where an issuer wants the PIN with its answer.
    let takesSingleTap: Bool

    /// Entries of a PIN at the issuer's wish, for one payment: an issuer's counter seldom allows more than three in all.
    static let tries = 2

    /// What a tap seals for the device.
    var account: PaymentTap.PINAccount {
        PaymentTap.PINAccount(
            recipient: settings.key, takesWholeNumber: offer.takesWholeNumber, isForIssuer: takesSingleTap)
    }

    func demand(_ account: String) -> PINRequest {
        PINRequest(
            PINAttempt(id: PINAttemptID(), device: name, format: offer.format, keySet: settings.keySet),
            account: account)
    }

    /// What the customer can be asked with, if the issuer wants it.
    func spares(_ account: String) -> [PINRequest] {
        takesSingleTap ? (0..<Self.tries).map { _ in demand(account) } : []
    }
}

/// The PIN devices of one transaction's lanes.
struct PINDeviceSlots: Sendable {
    /// As the configuration had them when the transaction began, by lane.
    private let configured: [String: (name: String, settings: PINDeviceSettings)]
    private let mode: Mode
    private let takesSingleTap: Bool

    /// - Parameter takesSingleTap: what the payment service says of itself.
    init(_ configuration: ConfigurationSnapshot, takesSingleTap: Bool) {
        let devices = configuration.pinDevices
        var configured: [String: (name: String, settings: PINDeviceSettings)] = [:]
        for lane in configuration.configuration.file.lanes {
            if let name = lane.pinDevice, let settings = devices[name] { configured[lane.name] = (name, settings) }
        }
        (self.configured, mode, self.takesSingleTap) = (configured, configuration.mode, takesSingleTap)
    }

    /// Those that may be used now, by lane. All are asked at once: a driver that hangs delays a sale for its own time only.
    func ready(of lanes: [String], at now: Timestamp, _ logger: Logger) async -> [String: PINDeviceSlot] {
        let wanted = lanes.compactMap { lane in configured[lane].map { (lane, $0.name, $0.settings) } }
        return await withTaskGroup(of: (String, PINDeviceSlot)?.self) { [mode, takesSingleTap] group in
            for (lane, name, settings) in wanted {
                group.addTask {
                    let status = await PINDeviceLink(settings).status()
                    do throws(PINDeviceFault) {
                        let offer = try PINDeviceOffer(status, by: settings, in: mode, on: now.day)
                        let place = PINDeviceSlot(
                            name: name, settings: settings, offer: offer, takesSingleTap: takesSingleTap)
                        return (lane, place)
                    } catch {
                        logger.warning(
                            "PIN device not used", metadata: ["device": "\(name)", "reason": "\(error.description)"])
                        return nil
                    }
                }
            }
            return await group.reduce(into: [:]) { places, found in
                if let (lane, place) = found { places[lane] = place }
            }
        }
    }

    /// Of a device that an earlier run has asked.
    static func link(_ name: String, _ configuration: ConfigurationSnapshot) -> PINDeviceLink? {
        configuration.pinDevices[name].map { PINDeviceLink($0) }
    }
}

extension Timestamp {
    /// `YYYY-MM-DD`, UTC.
    fileprivate var day: String { String(description.prefix(10)) }
}
