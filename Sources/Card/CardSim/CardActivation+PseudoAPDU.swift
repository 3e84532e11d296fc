// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardActivation {
    /// What PC/SC part 3's GET DATA (`FF CA 00 00` UID, `FF CA 01 00` historical bytes or ATS) says of this card:
    /// behind a virtual slot the card itself gets the reader's pseudo-APDUs. `nil` for any other command.
    func answer(toPseudoAPDU command: [UInt8]) -> [UInt8]? {
        guard command.count >= 4, command[0] == 0xFF else { return nil }
        guard command[1] == 0xCA, command[3] == 0x00 else { return StatusWord.instructionNotSupported.bytes }
        return switch command[2] {
        case 0x00: uid + StatusWord.success.bytes
        case 0x01: answerToSelect + StatusWord.success.bytes
        default: StatusWord.functionNotSupported.bytes
        }
    }
}
