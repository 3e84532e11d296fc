// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Configuration
import Glibc
import PINDevice
import PINDeviceAPI
import PaymentValues
import Settings

struct PINDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin-devices", abstract: "Asks the PIN devices of the configuration how they are.",
        discussion: """
            Holds what each device says of itself against the configuration, as the daemon does before it arms a lane, and \
            asks nobody for a PIN. Run it as root or in the group of the devices' sockets. Exit codes: 0 done, 65 invalid \
            configuration, 69 with --check, if a device cannot be used.
            """)

    @Argument(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var file = "/etc/nfc-tap/nfc-tapd.toml"

    @Flag(help: "Fail if a device cannot be used.")
    var check = false

    @Flag(help: "Print JSON.")
    var json = false

    /// A device as it is printed.
    private struct Report: Encodable {
        var name: String
        var lanes: [String]
        var usable: Bool
        var problem: String?
        var remedy: String?
        var format: Int?
        var status: PINDeviceStatus?
    }

    private struct Reports: Encodable { var pinDevices: [Report] }

    func run() async throws {
        let now = Timestamp.now
        let (configuration, faults) = ConfigurationFile.read(
            path: file, host: .ofInstalledDaemon, at: UInt64(max(0, now.milliseconds / 1_000)))
        if let fault = faults.first {
            throw Failure("\(fault)", hint: "run nfc-tap config check \(file)", exitCode: ExitCode(65))
        }
        var reports: [Report] = []
        for (name, settings) in configuration.pinDevices.sorted(by: { $0.key < $1.key }) {
            let lanes = configuration.lanes.filter { $0.pinDevice == name }.map(\.name)
            let status = await PINDeviceLink(settings).status()
            var report = Report(name: name, lanes: lanes, usable: false, status: status)
            do throws(PINDeviceFault) {
                let offer = try PINDeviceOffer(
                    status, by: settings, in: configuration.mode, on: String(now.description.prefix(10)))
                (report.usable, report.format) = (true, offer.format)
            } catch {
                (report.problem, report.remedy) = (error.description, error.remedy)
            }
            reports.append(report)
        }
        if json {
            try StandardOutput.print(line: Reports(pinDevices: reports))
        } else {
            for report in reports { StandardOutput.print(Self.text(report)) }
            if reports.isEmpty { StandardOutput.print("no PIN device is configured") }
        }
        if check, reports.contains(where: { !$0.usable }) { throw ExitCode(69) }
    }

    private static func text(_ report: Report) -> String {
        var parts = [report.name, report.usable ? "usable" : "not used: \(report.problem ?? "")"]
        if let status = report.status {
            parts.append("\(status.model) \(status.serial)")
            parts.append(
                status.approval.map { "\($0.scheme) \($0.number)" + ($0.expires.map { " until \($0)" } ?? "") }
                    ?? (status.simulator ? "software, no approval" : "no approval"))
        }
        if let format = report.format { parts.append("format \(format)") }
        parts.append(report.lanes.isEmpty ? "at no lane" : "at \(report.lanes.joined(separator: ", "))")
        return parts.joined(separator: " · ") + (report.remedy.map { "\n  \($0)" } ?? "")
    }
}
