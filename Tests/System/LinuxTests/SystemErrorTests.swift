// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import Testing

@Suite struct SystemErrorTests {
    /// What open(2), bind(2), connect(2), accept(2) and flock(2) say where a path, a device or an address is wrong.
    @Test("D10: each error that a wrong path, device or address gives has words of its own, and a remedy")
    func words() {
        let codes = [
            EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP, EROFS, ENOSPC, EDQUOT, EIO, EFBIG, EBUSY,
            EAGAIN, ENOTTY,
            ENXIO, ENODEV, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT, EMFILE,
            ENFILE, ENOMEM,
        ]
        for code in codes {
            let words = SystemError(code: code).remedy
            #expect(!words.contains("errno") && words.contains(": "), "\(words)")
            #expect("\(SystemError(code: code))" == words)
        }
        // Of any other one the system's own words, with the number for whoever looks it up.
        #expect(SystemError(code: EPROTO).remedy.hasPrefix("Protocol error, number \(EPROTO) of errno(3): check "))
    }

    /// getrlimit(2).
    @Test("A6: a program's need is held against what it may have, and says both numbers with the remedy")
    func shortage() throws {
        #expect(DescriptorLimit.Shortage(of: 64, most: 64) == nil && DescriptorLimit.Shortage(of: 64, most: nil) == nil)
        let shortage = try #require(DescriptorLimit.Shortage(of: 1_376, most: 1_024))
        #expect(shortage.problem.contains("1376") && shortage.problem.contains("1024"))
        #expect(shortage.remedy(unit: "a.service").contains("LimitNOFILE= of a.service to 1376"))
        // The last 32 are left to books and readers, or a quarter of few.
        #expect(DescriptorLimit.ceiling(of: 1_024) == 992 && DescriptorLimit.ceiling(of: 64) == 48)
    }
}
