// SPDX-License-Identifier: Apache-2.0
public import CardBytes

extension CardReader {
    /// Sends a command and completes its answer: 6Cxx (resend with the right Le), 61xx (GET RESPONSE, repeated while
    /// there is more), and the bare warning with which a card behind T=0 answers SELECT. Oddly bridging readers show
    /// these, kernels must not see them (ISO/IEC 7816-4 §5.6, EMV Book 1 Annex A).
    ///
    /// - Throws: as `transmit`; an answer that cannot be completed is `.cardLost`.
    public func exchange(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        var sent = command
        var data: [UInt8] = []
        var warning: StatusWord?
        // A card that never finishes must not hold the reader: its longest honest answer takes three rounds.
        for _ in 0..<8 {
            let response = try transmit(sent, until: deadline)
            switch response.status.sw1 {
            case 0x6C where response.data.isEmpty:
                sent = try rebuilt { () throws(APDUError) in try sent.withLe(length(response.status.sw2)) }
            case 0x61:
                data += response.data
                sent = try rebuilt { () throws(APDUError) in try .getResponse(length(response.status.sw2)) }
            case 0x62, 0x63:
                guard warning == nil, sent.ins == 0xA4, sent.le != nil, response.data.isEmpty
                else { return ResponseAPDU(data: data + response.data, status: response.status) }
                warning = response.status
                sent = try rebuilt { () throws(APDUError) in try .getResponse(256) }
            default:
                guard let warning else { return ResponseAPDU(data: data + response.data, status: response.status) }
                // The warning is the answer to SELECT; the status of GET RESPONSE only says whether there was data.
                return ResponseAPDU(data: data + (response.status.isSuccess ? response.data : []), status: warning)
            }
        }
        throw .cardLost
    }

    private func length(_ sw2: UInt8) -> Int { sw2 == 0 ? 256 : Int(sw2) }

    private func rebuilt(_ make: () throws(APDUError) -> CommandAPDU) throws(ReaderError) -> CommandAPDU {
        do { return try make() } catch { throw .cardLost }
    }
}
