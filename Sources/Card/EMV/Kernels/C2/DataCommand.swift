// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// GET DATA and PUT DATA (C-2 §5.3, §5.7) for tags of two bytes.
enum DataCommand {
    static func get(_ tag: Tag) -> CommandAPDU { ShortCommand.make(0x80, 0xCA, high(tag), low(tag)) }

    /// - Returns: `nil` where the value is too long for a short command. No answer is expected, so that there is no Le.
    static func put(_ object: DataObject) -> CommandAPDU? {
        do throws(APDUError) {
            return try CommandAPDU(cla: 0x80, ins: 0xDA, p1: high(object.tag), p2: low(object.tag), data: object.value)
        } catch {
            return nil
        }
    }

    private static func high(_ tag: Tag) -> UInt8 { UInt8(truncatingIfNeeded: tag.rawValue >> 8) }
    private static func low(_ tag: Tag) -> UInt8 { UInt8(truncatingIfNeeded: tag.rawValue) }
}
