// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Testing

@testable import TapDaemon

@Suite("Who may do what", .timeLimit(.minutes(5)))
struct AccessTests {
    private let access = Access(groups: [.admin: 10, .cashier: 20, .loyalty: 30, .monitor: 40], owner: 500)

    private func roles(uid: UInt32, gid: UInt32, groups: [UInt32] = []) -> Set<Role> {
        access.roles(
            of: PeerCredentials(processID: 1, userID: uid, groupID: gid, supplementaryGroupIDs: groups))
    }

    @Test("Root and the daemon's own user may do everything, a stranger nothing")
    func ends() {
        #expect(roles(uid: 0, gid: 0) == Set(Role.allCases))
        #expect(roles(uid: 500, gid: 99) == Set(Role.allCases))
        #expect(roles(uid: 1_000, gid: 1_000).isEmpty)
        #expect(
            Access(groups: [:], owner: 500).roles(
                of: PeerCredentials(processID: 1, userID: 1_000, groupID: 1_000)
            ).isEmpty)
    }

    @Test("Groups give roles, be they primary or supplementary; loyalty never gives payments")
    func groups() {
        #expect(roles(uid: 1_000, gid: 20) == [.cashier, .monitor])
        #expect(roles(uid: 1_000, gid: 1_000, groups: [30]) == [.loyalty, .monitor])
        #expect(roles(uid: 1_000, gid: 40) == [.monitor])
        #expect(roles(uid: 1_000, gid: 1_000, groups: [7, 10]) == Set(Role.allCases))
    }

    static let calls: [(groups: String, arguments: [String], status: String)] = [
        ("", ["http://d/v1/status"], "403"),
        ("40", ["http://d/v1/status"], "200"),
        ("40", ["http://d/v1/transactions?order=a"], "403"),
        ("30", ["http://d/v1/lanes"], "200"),
        (
            "30",
            [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d", "{}",
                "http://d/v1/transactions",
            ], "400"
        ),
        (
            "30",
            [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d",
                #"{"type":"purchase","amount":{"value":500,"currency":"EUR"},"loyalty":{}}"#,
                "http://d/v1/transactions",
            ], "403"
        ),
        (
            "30",
            [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k2", "-H", "Prefer: wait=10", "-d",
                #"{"type":"loyalty","deadline":1}"#, "http://d/v1/transactions",
            ], "201"
        ),
        (
            "40",
            [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d", #"{"type":"loyalty"}"#,
                "http://d/v1/transactions",
            ], "403"
        ),
        ("20", ["http://d/v1/transactions?order=a"], "200"),
        (
            "20",
            [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d", "{}",
                "http://d/v1/transactions",
            ], "400"
        ),
    ]

    @Test(
        "The kernel's word on a peer decides on the real socket",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func peers() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = access
        try await Shop.open(in: folder, wish) { shop in
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            for call in Self.calls {
                let answer = try await curl(folder, groups: call.groups, call.arguments)
                #expect(answer.status == call.status, "groups \(call.groups) \(call.arguments): \(answer.body)")
            }
        }
    }

    @Test(
        "Passes are for the user who asked for them, and for cashiers and administrators",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func passes() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = access
        try await Shop.open(in: folder, wish) { shop in
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            try shop.reader.obey("present google-pass")
            let read = try await curl(
                folder, uid: 65_533, groups: "30",
                [
                    "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-H", "Prefer: wait=10", "-d",
                    #"{"type":"loyalty"}"#, "http://d/v1/transactions",
                ])
            #expect(read.status == "201" && read.body.contains("MEMBER-0001"))
            let id = try WireJSON.decode(Transaction.self, from: Array(read.body.utf8)).id
            let target = "http://d/v1/transactions/\(id)"
            let calls: [(uid: UInt32, groups: String, status: String)] = [
                (65_533, "30", "200"), (65_534, "30", "403"), (65_534, "20", "200"), (65_534, "10", "200"),
                (65_534, "40", "403"), (65_534, "30,40", "403"),
            ]
            for call in calls {
                let answer = try await curl(folder, uid: call.uid, groups: call.groups, [target])
                #expect(answer.status == call.status, "\(call): \(answer.body)")
                #expect(answer.body.contains("MEMBER-0001") == (call.status == "200"), "\(call)")
            }
            let refusal = try await curl(folder, groups: "30", [target])
            #expect(refusal.body.contains("session.not_owner"))
            // The owner's key finds nothing for another user: keys belong to their users.
            let other = try await curl(folder, groups: "30", ["http://d/v1/transactions?order=a"])
            #expect(other.status == "403")
        }
    }

    @Test(
        "Another user's transaction cannot be cancelled, except by an administrator",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func owner() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = access
        try await Shop.open(in: folder, wish) { shop in
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(500), over: connection).transaction().id
            let target = "http://d/v1/transactions/\(id)"
            #expect(try await curl(folder, groups: "20", ["-X", "DELETE", target]).body.contains("session.not_owner"))
            for call in ["confirmation", "reversal"] {
                let body = ["-H", "Content-Type: application/json", "-d", #"{"reason":"malfunction"}"#]
                let answer = try await curl(folder, groups: "20", body + [target + "/" + call])
                #expect(answer.body.contains("session.not_owner"))
                let admin = try await curl(folder, groups: "10", body + [target + "/" + call])
                #expect(admin.body.contains("transaction.not_approved"))
                #expect(try await curl(folder, groups: "30", body + [target + "/" + call]).status == "403")
            }
            #expect(try await curl(folder, groups: "10", ["-X", "DELETE", target]).status == "200")
            #expect(try await curl(folder, groups: "30", [target]).status == "403")
            #expect(try await shop.reach([.cancelled], id).cancelledBy == .administrator)
        }
    }
}
