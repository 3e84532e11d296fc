// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Settings
import Testing

@testable import Hub

@Suite("The folder of a program's ledgers, as its --check looks at it")
struct StateFolderTests {
    /// A folder of this process's user.
    private func folder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try mode(0o700, folder)
        try body(folder)
    }

    private func mode(_ mode: Int, _ file: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    private func fault(
        _ folder: URL, user: UInt32 = geteuid(), isMadeByUnit: Bool = false, mayWrite: Bool = true
    ) -> String? {
        var host = ConfigurationHost()
        host.writingFault = { _ in mayWrite ? nil : EACCES }
        return StateFolder.fault(
            folder.path, files: ["shop.orders", "other.orders"], isMadeByUnit: isMadeByUnit, user: user, host: host)
    }

    @Test("B13: a folder that is not there, is none, or that others may write is named with what to do")
    func folders() throws {
        try folder { folder in
            #expect(fault(folder) == nil)
            let missing = folder.appending(path: "no")
            #expect(fault(missing)?.contains("not there") == true)
            // The unit makes it at its first start.
            #expect(fault(missing, isMadeByUnit: true) == nil)
            let file = folder.appending(path: "file")
            try Data().write(to: file)
            #expect(fault(file)?.contains("no folder") == true)
            for bits in [0o720, 0o702] {
                try mode(bits, folder)
                #expect(fault(folder)?.contains("chmod go-w") == true)
            }
        }
    }

    @Test("B13: what another user than the program's owns is named")
    func owners() throws {
        try folder { folder in
            let other = geteuid() &+ 4_711
            #expect(fault(folder, user: other, mayWrite: false)?.contains("owner and mode") == true)
            // By an access control list, for example.
            #expect(fault(folder, user: other) == nil)
            if geteuid() == 0 {
                #expect(fault(folder, isMadeByUnit: true)?.contains("belongs to root") == true)
                #expect(fault(folder) == nil)
            }
            let ledger = folder.appending(path: "shop.orders")
            try Data().write(to: ledger)
            try mode(0o600, ledger)
            #expect(fault(folder) == nil)
            try mode(0o400, ledger)
            #expect(fault(folder)?.contains("shop.orders") == true)
            try mode(0o600, ledger)
            try FileManager.default.createDirectory(
                at: folder.appending(path: "other.orders"), withIntermediateDirectories: false)
            #expect(fault(folder)?.contains("other.orders") == true)
        }
    }
}
