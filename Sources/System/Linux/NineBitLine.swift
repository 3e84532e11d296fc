// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A serial line of words of nine bits: eight of data and, where a parity bit would be, a ninth that marks a word. One thread has it.
///
/// With space parity the system hands over a marked word as FF 00 and its byte, and FF as FF FF (termios(3), `PARMRK`). What is sent has
/// its last word marked.
package final class NineBitLine: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        case system(SystemError)
        /// The driver has no mark and no space parity, or no parity at all.
        case noParity
    }

    private let port: Descriptor
    private let isEscaped: Bool

    /// Mark or space in place of even and odd (bits/termios.h), which Swift sees on some machines only.
    private static let stickParity = tcflag_t(0o10_000_000_000)
    private static let parity = tcflag_t(PARENB) | stickParity

    /// Opens the line, with eight bits and one stop bit, and throws away what has come on it before.
    ///
    /// - Parameters:
    ///   - isEscaped: the other end writes and reads FF 00 and FF FF itself, as an adapter or a pseudo-terminal does.
    ///   - baud: 9600, 19200, 38400, 57600 or 115200.
    /// - Throws: `noParity` where the settings do not read back as they were written.
    package init(path: String, isEscaped: Bool, baud: Int) throws(Failure) {
        do throws(SystemError) {
            port = try Descriptor.serialPort(path, baud: baud) { settings in
                settings.c_cflag &= ~(tcflag_t(CSTOPB | PARODD) | Self.parity)
                settings.c_iflag &= ~tcflag_t(IGNPAR | IGNBRK | INPCK)
                if !isEscaped {
                    settings.c_cflag |= Self.parity
                    settings.c_iflag |= tcflag_t(INPCK | PARMRK)
                }
            }
            _ = tcflush(port.number, TCIFLUSH)
            self.isEscaped = isEscaped
        } catch {
            throw .system(error)
        }
        guard isEscaped || hasParity else { throw .noParity }
    }

    /// A driver that lacks them takes the settings, and leaves them out.
    private var hasParity: Bool {
        var settings = termios()
        guard unsafe tcgetattr(port.number, &settings) == 0 else { return false }
        return settings.c_cflag & Self.parity == Self.parity && settings.c_cflag & tcflag_t(PARODD) == 0
            && settings.c_iflag & tcflag_t(PARMRK) != 0
    }

    /// Whether something waits to be read, or the line has gone.
    ///
    /// - Parameter end: a time of `MachineClock.awake`; one that has passed does not wait.
    package func waits(untilNanoseconds end: UInt64) -> Bool {
        var watched = [pollfd(fd: port.number, events: Int16(POLLIN), revents: 0)]
        return Poll.wait(&watched, untilNanoseconds: end) == .ready
    }

    /// What has come.
    ///
    /// - Throws: where the line has gone.
    package func read() throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            let bytes = try port.read(atMost: 256)
            if bytes.isEmpty { throw SystemError(code: EIO) }
            return bytes
        } catch {
            if error.code == EAGAIN { return [] }
            throw error
        }
    }

    /// Sends one answer.
    ///
    /// - Parameters:
    ///   - marked: it as an escaped line has it.
    ///   - bytes: it as a line with parity has it: the last one is marked.
    /// - Throws: where the line has gone, or takes no more.
    package func send(marked: [UInt8], bytes: [UInt8]) throws(SystemError) {
        guard !isEscaped else { return try port.write(marked) }
        try port.write(Array(bytes.dropLast()))
        // The parity is that of the whole line: the words before have to be out.
        _ = tcdrain(port.number)
        try setMark(true)
        do throws(SystemError) { try port.write(Array(bytes.suffix(1))) } catch {
            try setMark(false)
            throw error
        }
        _ = tcdrain(port.number)
        try setMark(false)
    }

    private func setMark(_ isMark: Bool) throws(SystemError) {
        var settings = termios()
        guard unsafe tcgetattr(port.number, &settings) == 0 else { throw .last }
        if isMark { settings.c_cflag |= tcflag_t(PARODD) } else { settings.c_cflag &= ~tcflag_t(PARODD) }
        guard unsafe tcsetattr(port.number, TCSANOW, &settings) == 0 else { throw .last }
    }
}
