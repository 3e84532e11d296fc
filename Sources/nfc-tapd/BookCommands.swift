// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Linux
import TapDaemon
import Wire

/// What an administrator asks of the books while no daemon runs.
enum BookCommands {
    static func beginAnew(_ folder: String) throws {
        do {
            for line in try BookBinding.beginAnew(folder, by: person, at: .now) { print(line) }
        } catch {
            throw StartFailure(error.description, hint: error.remedy)
        }
    }

    static func tellOpenMoney(in folder: String) throws {
        let lines: [String]?
        do { lines = try BookBinding.openMoney(in: folder) } catch {
            print("not readable: \(error)")
            throw ExitCode(65)
        }
        for line in lines ?? [] { print(line) }
        guard lines?.isEmpty ?? true else { throw ExitCode(1) }
    }

    /// The kernel's word for who is here: sudo and runuser change the first number, never the second.
    private static var person: String {
        let login = (try? FileSystem.beginning(of: "/proc/self/loginuid", 16)) ?? []
        let number = UInt32(String(decoding: login, as: UTF8.self).filter(\.isNumber)) ?? .max
        return "uid \(getuid())" + (number == .max ? "" : ", login uid \(number)")
    }
}
