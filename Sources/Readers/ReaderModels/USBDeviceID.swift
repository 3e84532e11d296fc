// SPDX-License-Identifier: Apache-2.0
/// Vendor and product of a USB device, as its device descriptor (USB 2.0 §9.6.1) says them.
public struct USBDeviceID: Hashable, Sendable {
    public let vendor: UInt16
    public let product: UInt16

    public init(_ vendor: UInt16, _ product: UInt16) {
        self.vendor = vendor
        self.product = product
    }

    /// From sysfs' `idVendor` and `idProduct`: four hexadecimal digits each.
    ///
    /// - Returns: `nil` for anything else.
    public init?(vendor: String, product: String) {
        guard vendor.utf8.count == 4, product.utf8.count == 4, let vendor = UInt16(vendor, radix: 16),
            let product = UInt16(product, radix: 16)
        else { return nil }
        self.init(vendor, product)
    }
}

extension USBDeviceID: CustomStringConvertible {
    /// `072f:2200`
    public var description: String { "\(Self.digits(vendor)):\(Self.digits(product))" }

    /// Four hexadecimal digits in lower case, as udev matches them.
    public static func digits(_ number: UInt16) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 4 - text.utf8.count)) + text
    }
}
