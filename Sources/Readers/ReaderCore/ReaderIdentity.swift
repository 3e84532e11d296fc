// SPDX-License-Identifier: Apache-2.0
/// What is known of a reader. Stable for as long as the reader is open.
public struct ReaderIdentity: Equatable, Sendable {
    public enum Driver: String, Sendable {
        case pcsc, libnfc, virtual, replay
    }

    /// How the driver addresses it: PC/SC name, libnfc connection string, virtual name. Changes with every replug.
    public var name: String
    /// What it is: `ACS ACR122U PICC`. Stable; configuration is keyed on it.
    public var model: String
    public var driver: Driver
    public var firmware: String?
    public var serial: String?

    public init(name: String, model: String, driver: Driver, firmware: String? = nil, serial: String? = nil) {
        self.name = name
        self.model = model
        self.driver = driver
        self.firmware = firmware
        self.serial = serial
    }
}
