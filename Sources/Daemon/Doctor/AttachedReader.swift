// SPDX-License-Identifier: Apache-2.0
import ReaderModels

/// A reader of the table on this machine's USB.
struct AttachedReader {
    let model: ReaderModel
    /// Its name in sysfs: `1-2`, the way of ports to it.
    let port: String
    /// Its device file.
    let node: String
    /// Kernel drivers that hold one of its interfaces; usbfs, which is a program's hold, is none of them.
    let kernelDrivers: [String]

    static func all(in tree: HostTree) -> [AttachedReader] {
        // Interfaces have a colon in their names, devices have not.
        tree.entries(folder).filter { !$0.contains(":") }.compactMap { AttachedReader(port: $0, tree) }
    }

    private static let folder = "/sys/bus/usb/devices"

    private init?(port: String, _ tree: HostTree) {
        let device = Self.folder + "/" + port
        guard let vendor = tree.line(device + "/idVendor"), let product = tree.line(device + "/idProduct"),
            let id = USBDeviceID(vendor: vendor, product: product), let model = ReaderModels.model(of: id),
            let bus = tree.line(device + "/busnum").flatMap({ Int($0) }),
            let number = tree.line(device + "/devnum").flatMap({ Int($0) })
        else { return nil }
        self.model = model
        self.port = port
        node = "/dev/bus/usb/\(Self.digits(bus))/\(Self.digits(number))"
        kernelDrivers = tree.entries(Self.folder).filter { $0.hasPrefix(port + ":") }.compactMap { interface in
            tree.link("\(Self.folder)/\(interface)/driver")?.split(separator: "/").last.map(String.init)
        }.filter { $0 != "usbfs" }
    }

    /// Three digits, as usbfs names buses and devices.
    private static func digits(_ number: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, 3 - text.utf8.count)) + text
    }
}
