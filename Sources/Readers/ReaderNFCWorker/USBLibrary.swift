// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// Which libusb libnfc has brought into this process. libnfc is linked with libusb-0.1; that is the original on Debian 12,
/// and elsewhere a layer over libusb-1.0, which asks the kernel for devices over netlink.
public enum USBLibrary: String, Sendable {
    case original = "libusb-0.1"
    case modern = "libusb-1.0"

    /// `nil` for none, or where /proc cannot be read.
    public static var loaded: USBLibrary? {
        guard let maps = try? FileSystem.bytes(of: "/proc/self/maps", atMost: 4 << 20) else { return nil }
        let text = String(decoding: maps, as: UTF8.self)
        // The layer is loaded as libusb-0.1 too: the other one decides.
        if text.contains("/libusb-1.0.so") { return .modern }
        return text.contains("/libusb-0.1.so") ? .original : nil
    }

    /// What keeps this process from finding a USB reader; `nil` for nothing that could be seen.
    public static var complaint: String? {
        guard loaded == .modern, !mayUseNetlink else { return nil }
        return "libnfc works over libusb-1.0 here, which finds no USB reader without netlink: install "
            + "/usr/share/nfc-tap/netlink.conf beside usb.conf in /etc/systemd/system/nfc-tapd.service.d"
    }

    private static var mayUseNetlink: Bool {
        // AF_NETLINK, NETLINK_KOBJECT_UEVENT of linux/netlink.h: what libusb-1.0 opens where it has no udev.
        let descriptor = socket(16, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 15)
        guard descriptor >= 0 else { return false }
        _ = close(descriptor)
        return true
    }
}
