// SPDX-License-Identifier: Apache-2.0
import ReaderModels

extension HostFacts {
    private static let modules = ["pn533_usb", "pn533", "nfc"]
    private static let blacklist = "/etc/modprobe.d/nfc-tap.conf"
    private static let blacklistText = modules.reversed().map { "blacklist \($0)\n" }.joined()

    /// The kernel's own NFC drivers: they claim readers that pcscd or libnfc have to open.
    func kernelDrivers() -> [Finding] {
        let unload = ["modprobe", "-r"] + Self.modules
        var findings = readers.filter { !$0.kernelDrivers.isEmpty }.map { reader in
            let fix = Fix.run(unload, then: Self.showAgain(reader))
            return Finding(
                .kernelDriver, .error,
                "the kernel's driver \(reader.kernelDrivers.joined(separator: ", ")) has claimed the "
                    + "\(reader.model.name) at USB port \(reader.port)",
                remedy: fix.description, fix: fix)
        }
        let loaded = Self.names((tree.text("/proc/modules") ?? ""))
        if findings.isEmpty, loaded.contains("pn533_usb") {
            findings.append(
                Finding(
                    .kernelDriver, .warning,
                    "the kernel module pn533_usb is loaded and claims connected readers",
                    remedy: unload.joined(separator: " "), fix: .run(unload)))
        }
        // Where the modules do not exist there is nothing to keep from loading.
        guard !isBlacklisted, loaded.contains("pn533_usb") || readers.contains(where: \.isClaimable) else {
            return findings
        }
        return findings + [
            Finding(
                .blacklist, .warning, "the kernel will load pn533_usb when a reader is connected",
                remedy:
                    "write \"blacklist nfc\", \"blacklist pn533\" and \"blacklist pn533_usb\" into \(Self.blacklist)",
                fix: .write(path: Self.blacklist, text: Self.blacklistText))
        ]
    }

    /// pcscd tries a reader when it is plugged in and not again; to be told of it once more is as good as plugging.
    private static func showAgain(_ reader: AttachedReader) -> [String]? {
        guard reader.model.backend == .pcsc else { return nil }
        return ["udevadm", "trigger", "--action=add", "--subsystem-match=usb", "--sysname-match=\(reader.port):*"]
    }

    private var isBlacklisted: Bool {
        for folder in ["/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"] {
            for file in tree.entries(folder) where file.hasSuffix(".conf") {
                let lines = (tree.text("\(folder)/\(file)") ?? "").split(separator: "\n")
                if lines.contains(where: { $0.split(whereSeparator: \.isWhitespace) == ["blacklist", "pn533_usb"] }) {
                    return true
                }
            }
        }
        return false
    }

    /// First word of each line of /proc/modules.
    private static func names(_ modules: String) -> Set<Substring> {
        Set(modules.split(separator: "\n").compactMap { $0.split(separator: " ").first })
    }
}

extension AttachedReader {
    fileprivate var isClaimable: Bool { model.quirks.contains(.claimedByKernel) }
}
