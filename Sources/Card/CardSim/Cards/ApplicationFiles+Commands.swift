// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension ApplicationFiles {
    /// Why READ RECORD found nothing (EMV Book 3 §6.5.11).
    func refusal(ofRecord command: CommandAPDU) -> ResponseAPDU {
        guard command.p2 & 0x07 == 0x04, command.data.isEmpty else {
            return ResponseAPDU(status: .incorrectParameters)
        }
        let file = command.p2 >> 3
        return ResponseAPDU(
            status: records.keys.contains { $0.file == file } ? .recordNotFound : .fileNotFound)
    }

    /// The PDOL values out of GET PROCESSING OPTIONS (EMV Book 3 §6.5.8), or the refusal.
    func processingOptions(_ command: CommandAPDU) -> Result<TransactionData, CommandRefusal> {
        guard command.p1 == 0, command.p2 == 0 else { return .failure(CommandRefusal(.incorrectParameters)) }
        guard let values = TransactionData.template83(command.data) else {
            return .failure(CommandRefusal(.wrongLength))
        }
        var data = TransactionData()
        return data.add(values, by: pdol) ? .success(data) : .failure(CommandRefusal(.wrongLength))
    }
}

/// A command that is not carried out.
struct CommandRefusal: Error {
    let status: StatusWord

    init(_ status: StatusWord) { self.status = status }
}

extension PaymentApplication {
    /// GET DATA (EMV Book 3 §6.5.7) of the objects named here; 6A88 for any other.
    func answer(getData command: CommandAPDU, from objects: [CardObject]) -> ResponseAPDU {
        let wanted = Tag(UInt32(command.p1) << 8 | UInt32(command.p2))
        guard let object = objects.first(where: { $0.tag == wanted }) else {
            return ResponseAPDU(status: .referencedDataNotFound)
        }
        return ResponseAPDU(data: ApplicationFiles.encoded([object]), status: .success)
    }

    /// The answer to a command that the application does not know.
    func refusal(of command: CommandAPDU) -> ResponseAPDU {
        switch command.ins {
        case 0xA8, 0xB2, 0xCA: ResponseAPDU(status: .classNotSupported)
        default: ResponseAPDU(status: .instructionNotSupported)
        }
    }

    /// A response of format 2: template 77 around the objects (EMV Book 3 §6.5.5.4).
    func template77(_ objects: [CardObject]) -> ResponseAPDU {
        var writer = TLVWriter()
        writer.append(0x77, ApplicationFiles.encoded(objects))
        return ResponseAPDU(data: writer.bytes, status: .success)
    }
}
