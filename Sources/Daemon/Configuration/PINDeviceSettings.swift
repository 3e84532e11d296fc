// SPDX-License-Identifier: Apache-2.0
public import Envelope
import PaymentValues
import Settings

/// A PIN entry device beside the reader, as `[pin-devices.NAME]` has it.
public struct PINDeviceSettings: Equatable, Sendable {
    /// Where its driver listens.
    public var socket: String
    /// What the account is sealed to: the device's own key, which no socket can change.
    public var key: RecipientKey
    /// The device's name for the keys that the payment service can open PINs of.
    public var keySet: String
    /// The number of its approval, as the payment service or the vendor has it in writing; needed in live mode.
    public var approval: String?

    public init(socket: String, key: RecipientKey, keySet: String, approval: String? = nil) {
        self.socket = socket
        self.key = key
        self.keySet = keySet
        self.approval = approval
    }
}

extension ConfigurationFile {
    /// `[pin-devices.NAME]`.
    mutating func readPINDevices(_ top: inout ConfigurationTable) {
        var table = top.subtable("pin-devices")
        for name in table.keys {
            var entry = table.subtable(name)
            if !name.isReference(upTo: 32) {
                table.report(name, "is not 1 to 32 visible characters", "write [pin-devices.pad-1]")
            }
            if let device = pinDevice(&entry) { pinDevices[name] = device }
            entry.finish()
        }
        table.finish()
        for lane in lanes {
            guard let name = lane.pinDevice, !table.keys.contains(name) else { continue }
            top.report(
                ConfigurationError(
                    "lane \(lane.name)", "names the PIN device \(name), which does not exist",
                    remedy: "add [pin-devices.\(name)] or remove pin-device"))
        }
    }

    private func pinDevice(_ table: inout ConfigurationTable) -> PINDeviceSettings? {
        let socket = table.absolutePath("socket")
        if socket == nil { table.report("socket", "is missing", "write where the device's driver listens") }
        let keySet = table.text("key-set")
        if keySet?.isReference(upTo: 64) != true {
            table.report(
                "key-set", "is missing or not 1 to 64 visible characters",
                "write the name of the keys that your payment service can open PINs of")
        }
        let approval = table.text("approval")
        if approval == nil, mode == .live {
            table.report(
                "approval", "is missing", "write the number of the device's approval, as you have it in writing")
        }
        guard let path = table.absolutePath("key") else {
            return table.report("key", "is missing", "install the JWK of the device that its vendor gave you")
        }
        let key = table.attempt { [mode, table] () throws(ConfigurationError) -> RecipientKey in
            let jwk = try table.contents(of: path, for: "key")
            let key: RecipientKey
            do throws(RecipientKeyError) { key = try RecipientKey(jwk: jwk) } catch {
                throw table.wrong("key", "is wrong: \(error)", "install the JWK of the device that its vendor gave you")
            }
            guard mode == .test || !key.isTest else {
                throw table.wrong("key", "is a published test key", "live mode takes approved devices only")
            }
            return key
        }
        guard let socket, let keySet, let key else { return nil }
        return PINDeviceSettings(socket: socket, key: key, keySet: keySet, approval: approval)
    }
}
