// SPDX-License-Identifier: Apache-2.0
extension HostFacts {
    /// A wrong clock makes cards look expired, and keys too.
    func clock() -> [Finding] {
        var findings: [Finding] = []
        if let newest = newestFile, newest.modified > now + Self.day {
            let days = (newest.modified - now) / Self.day
            findings.append(
                Finding(
                    .clock, .error, "the clock is behind: \(newest.path) is \(days) days newer than the clock",
                    remedy: "timedatectl set-ntp true, or timedatectl set-time TIME"))
        }
        if !isSynchronized {
            findings.append(
                Finding(
                    .clock, .warning, "no service synchronises the clock",
                    remedy: "apt-get install systemd-timesyncd && timedatectl set-ntp true"))
        }
        return findings
    }

    private static let day: Int64 = 24 * 60 * 60

    /// Files that are written while the clock is right: by installations, and by systemd at every synchronisation.
    private var newestFile: (path: String, modified: Int64)? {
        let paths = ["/var/lib/systemd/timesync/clock", "/etc/ld.so.cache", "/usr/bin/nfc-tapd", configurationPath]
        return paths.compactMap { path in tree.attributes(path).map { (path, $0.modified) } }.max { $0.1 < $1.1 }
    }

    private var isSynchronized: Bool {
        let services: Set<String> = ["systemd-timesyn", "chronyd", "ntpd", "openntpd", "ntpsec"]
        return tree.exists("/run/systemd/timesync/synchronized") || processes.contains { services.contains($0.name) }
            || tree.exists("/dev/ptp_kvm") || isContainer
    }

    /// A container has the clock of its host.
    private var isContainer: Bool { tree.exists("/run/systemd/container") || tree.exists("/.dockerenv") }
}
