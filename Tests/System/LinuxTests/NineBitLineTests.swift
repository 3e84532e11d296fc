// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Testing

/// On a pseudo-terminal, which has no parity at all: no UART was there.
struct NineBitLineTests {
    /// Both ends of a line, and the path of the far one.
    private static func terminal() throws -> (near: Int32, far: Int32, path: String) {
        var (near, far): (Int32, Int32) = (-1, -1)
        let isOpen = unsafe openpty(&near, &far, nil, nil, nil) == 0
        var name = [CChar](repeating: 0, count: 128)
        let isNamed = unsafe ttyname_r(far, &name, name.count) == 0
        try #require(isOpen && isNamed)
        return (near, far, String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    @Test func `a line whose settings do not read back is refused`() throws {
        let (near, far, path) = try Self.terminal()
        let first = Descriptor(owning: near)
        let second = Descriptor(owning: far)
        #expect(throws: NineBitLine.Failure.noParity) { try NineBitLine(path: path, isEscaped: false, baud: 9_600) }
        #expect(throws: NineBitLine.Failure.system(SystemError(code: EINVAL))) {
            try NineBitLine(path: path, isEscaped: true, baud: 9_601)
        }
        #expect(throws: NineBitLine.Failure.system(SystemError(code: ENOENT))) {
            try NineBitLine(path: "/nowhere/at/all", isEscaped: true, baud: 9_600)
        }
        #expect(throws: NineBitLine.Failure.system(SystemError(code: ENOTTY))) {
            try NineBitLine(path: "/dev/null", isEscaped: true, baud: 9_600)
        }
        _ = (first.number, second.number)
    }

    @Test func `an escaped line carries every byte as it is, and nothing from before it was opened`() throws {
        let (near, far, path) = try Self.terminal()
        let machine = Descriptor(owning: near)
        let second = Descriptor(owning: far)
        // Without its settings the line would echo.
        _ = try NineBitLine(path: path, isEscaped: true, baud: 9_600)
        try machine.write([0x12, 0x34])
        let line = try NineBitLine(path: path, isEscaped: true, baud: 115_200)
        let before = try line.read()
        #expect(before.isEmpty)
        let all = (0...255).map { UInt8($0) }
        try machine.write(all)
        var heard: [UInt8] = []
        while heard.count < all.count, line.waits(untilNanoseconds: MachineClock.awake + 1_000_000_000) {
            heard += try line.read()
        }
        #expect(heard == all)
        try line.send(marked: [0xFF, 0x00, 0x00], bytes: [0x00])
        #expect(try machine.read(atMost: 16) == [0xFF, 0x00, 0x00])
        _ = second.number
    }
}
