public import CardBytes

extension CardReader {
    /// Sends a command and follows 61xx (GET RESPONSE) and 6Cxx (resend with the right Le), each at most once: oddly
    /// bridging readers show them, kernels must not see them (ISO/IEC 7816-4 §5.6).
    ///
    /// - Throws: as `transmit`; an answer that cannot be completed is `.cardLost`.
    public func exchange(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        var response = try transmit(command, until: deadline)
        if response.status.sw1 == 0x6C, response.data.isEmpty {
            response = try transmit(
                rebuilt { () throws(APDUError) in
                    try command.withLe(length(response.status.sw2))
                }, until: deadline)
        }
        if response.status.sw1 == 0x61 {
            let rest = try transmit(
                rebuilt { () throws(APDUError) in
                    try CommandAPDU.getResponse(length(response.status.sw2))
                }, until: deadline)
            response = ResponseAPDU(data: response.data + rest.data, status: rest.status)
        }
        return response
    }

    private func length(_ sw2: UInt8) -> Int { sw2 == 0 ? 256 : Int(sw2) }

    private func rebuilt(_ make: () throws(APDUError) -> CommandAPDU) throws(ReaderError) -> CommandAPDU {
        do { return try make() } catch { throw .cardLost }
    }
}
