// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Linux
import PaymentValues
import TapDaemon

/// What an administrator asks of the books while no daemon runs.
enum JournalCommands {
    static func beginAnew(_ folder: String) throws {
        let person = person
        try actAsOwner(of: folder)
        let lines: [String]
        do { lines = try JournalBinding.beginAnew(folder, by: person, at: .now) } catch {
            throw StartFailure(error.description, hint: error.remedy)
        }
        for line in lines { try Descriptor.print(line) }
    }

    static func tellOpenMoney(in folder: String) throws {
        try actAsOwner(of: folder)
        let lines: [String]?
        do { lines = try JournalBinding.openMoney(in: folder) } catch {
            try Descriptor.print("not readable: \(error)")
            throw ExitCode(65)
        }
        for line in lines ?? [] { try Descriptor.print(line) }
        guard lines?.isEmpty ?? true else { throw ExitCode(1) }
    }

    /// The folder is the daemon's, who may lay links in it: as root these commands would write through them, and leave files that
    /// the daemon cannot open.
    private static func actAsOwner(of folder: String) throws {
        do throws(SystemError) { try ProcessOwner.becomeOwner(of: folder) } catch {
            guard error.code != ENOENT else { return }
            throw StartFailure(
                "\(folder) belongs to another user, and this process cannot become it: \(error)",
                hint: "start it as that user: runuser -u nfc-tapd -- nfc-tapd …")
        }
    }

    /// The kernel's word for who is here: sudo and runuser change the first number, never the second.
    private static var person: String {
        let login = (try? FileSystem.beginning(of: "/proc/self/loginuid", 16)) ?? []
        let number = UInt32(String(decoding: login, as: UTF8.self).filter(\.isNumber)) ?? .max
        return "uid \(getuid())" + (number == .max ? "" : ", login uid \(number)")
    }
}
