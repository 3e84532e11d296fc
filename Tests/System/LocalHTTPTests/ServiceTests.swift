// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Linux
import Testing

@testable import LocalHTTP

/// What the service manager hands over and is told.
@Suite struct ServiceTests {
    private func notification(_ environment: [String: String]) -> ServiceNotification {
        ServiceNotification(environment: { environment[$0] })
    }

    /// A manager's socket at a path, or an abstract one where `name` begins with `@`; read by `receive`.
    private func manager(_ name: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let address = try #require(UnixAddress(notifySocket: name))
        try address.bind(descriptor)
        return descriptor
    }

    private func receive(_ descriptor: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    @Test(arguments: ["/", "@"])
    func `The manager gets one message per call, at a path and at an abstract name`(_ kind: String) async throws {
        try await withFolder { folder in
            let name = kind == "@" ? "@" + folder : folder + "/notify"
            let descriptor = try manager(name)
            defer { _ = close(descriptor) }
            let notification = notification(["NOTIFY_SOCKET": name])
            #expect(notification.send(.ready, .status("two\nlines")))
            #expect(receive(descriptor) == "READY=1\nSTATUS=two lines")
            #expect(notification.send(.watchdog))
            #expect(receive(descriptor) == "WATCHDOG=1")
            #expect(notification.send(.stopping))
            #expect(receive(descriptor) == "STOPPING=1")
            #expect(notification.send(.reloading))
            let reloading = try #require(receive(descriptor)).split(separator: "\n")
            #expect(reloading.first == "RELOADING=1")
            let time = try #require(reloading.last?.split(separator: "=").last.flatMap { UInt64($0) })
            #expect(time > 0)
        }
    }

    @Test(arguments: [[:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "relative"], ["NOTIFY_SOCKET": "/none/here"]])
    func `Without a manager nothing happens`(_ environment: [String: String]) {
        #expect(!notification(environment).send(.ready))
    }

    @Test func `The watchdog is fed at half of its time, and only by the process it is meant for`() {
        #expect(notification(["WATCHDOG_USEC": "30000000"]).watchdogInterval == .seconds(15))
        let own = ["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"]
        #expect(notification(own).watchdogInterval == .seconds(15))
        #expect(notification(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]).watchdogInterval == nil)
        for useless in ["0", "-5", "x", ""] {
            #expect(notification(["WATCHDOG_USEC": useless]).watchdogInterval == nil)
        }
        #expect(notification([:]).watchdogInterval == nil)
    }

    @Test func `Descriptors are taken in order, with their names`() {
        let sockets = InheritedSocket.parse(pid: "7", count: "2", names: "pos:psp", ownPID: 7)
        #expect(sockets == [.init(name: "pos", descriptor: 3), .init(name: "psp", descriptor: 4)])
        let short = InheritedSocket.parse(pid: "7", count: "2", names: "pos", ownPID: 7)
        #expect(short.map(\.name) == ["pos", "unknown"])
        #expect(InheritedSocket.parse(pid: "7", count: "1", names: nil, ownPID: 7).map(\.name) == ["unknown"])
    }

    @Test(
        arguments: [
            ("8", "1"), ("7", "0"), ("7", "-1"), ("7", "99999999"), ("7", "x"), ("", "1"), ("x", "1"), (nil, "1"),
            ("7", nil),
        ] as [(String?, String?)])
    func `Variables that are damaged or meant for another process give nothing`(_ pid: String?, _ count: String?) {
        #expect(InheritedSocket.parse(pid: pid, count: count, names: "pos", ownPID: 7) == [])
    }
}
