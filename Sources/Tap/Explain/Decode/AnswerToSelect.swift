// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// ATS of ISO/IEC 14443-4 §5.2: TL, T0, TA(1), TB(1), TC(1), historical bytes.
enum AnswerToSelect {
    /// - Parameter bytes: with TL, or without it as readers often report.
    static func meanings(_ bytes: [UInt8]) throws(DecodeError) -> [Meaning] {
        guard let first = bytes.first else { throw .empty }
        if Int(first) == bytes.count { return try body(bytes, from: 1) }
        // Bit 8 of T0 is 0, and a TL that fits is no T0: anything else has to say so.
        do throws(DecodeError) {
            return try body(bytes, from: 0)
        } catch {
            throw .wrongLength(offset: 0, said: Int(first), have: bytes.count)
        }
    }

    private static func body(_ bytes: [UInt8], from start: Int) throws(DecodeError) -> [Meaning] {
        var meanings: [Meaning] = start == 0 ? [] : [Meaning("TL", "\(bytes[0]) bytes")]
        guard start < bytes.count else { return meanings }
        let format = bytes[start]
        guard format & 0x80 == 0 else { throw .cutOff(part: "T0 with bit 8 clear", offset: start) }
        meanings.append(Meaning("T0", "frames of up to \(frameSize(format & 0x0F)) bytes (FSCI \(format & 0x0F))"))
        var offset = start + 1
        for (mask, name) in [(UInt8(0x10), "TA(1)"), (0x20, "TB(1)"), (0x40, "TC(1)")] where format & mask != 0 {
            guard offset < bytes.count else { throw .cutOff(part: name, offset: offset) }
            meanings.append(Meaning(name, interfaceByte(name, bytes[offset])))
            offset += 1
        }
        if offset < bytes.count { meanings.append(Meaning("historical bytes", Hex.string(bytes[offset...]))) }
        return meanings
    }

    private static func frameSize(_ index: UInt8) -> Int {
        let sizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]
        return sizes[min(Int(index), sizes.count - 1)]
    }

    private static func interfaceByte(_ name: String, _ value: UInt8) -> String {
        switch name {
        case "TA(1)":
            let rates = [(UInt8(0x10), "212"), (0x20, "424"), (0x40, "848")]
            let toReader = rates.filter { value & $0.0 != 0 }.map(\.1)
            let toCard = rates.filter { value & $0.0 >> 4 != 0 }.map(\.1)
            return "\(Hex.string([value])), kbit/s to reader 106\(list(toReader)), to card 106\(list(toCard))"
                + (value & 0x80 != 0 ? ", same in both directions" : "")
        case "TB(1)":
            let waiting = Int(value >> 4)
            let guardTime = Int(value & 0x0F)
            return "\(Hex.string([value])), FWI \(waiting), SFGI \(guardTime)"
        case _:
            return "\(Hex.string([value])), "
                + (value & 0x01 != 0 ? "NAD supported" : "no NAD") + ", "
                + (value & 0x02 != 0 ? "CID supported" : "no CID")
        }
    }

    private static func list(_ rates: [String]) -> String { rates.map { " " + $0 }.joined() }
}
