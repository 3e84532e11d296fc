// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Data envelopes: ten objects (9F8111…9F811A) that a card keeps for terminals (C-8 §5.5 and §5.7; Book E §6).
extension Kernel8 {
    /// The envelopes that Tags To Read (9F8203) names. Other tags of the list are for the data exchange with the
    /// terminal, which is left out.
    var envelopeTags: [Tag] {
        guard let list = store.value(.c8TagsToRead).flatMap({ TagList($0) }) else { return [] }
        return list.tags.filter { (0x9F8111...0x9F811A).contains($0.rawValue) }
    }

    /// The objects of Data Envelopes To Write (BF8104), each encoded; `nil` where the list is malformed or one is too
    /// long for a command.
    func envelopes() -> [[UInt8]]? {
        guard let list = store.value(.dataEnvelopesToWrite) else { return [] }
        do throws(TLVError) {
            let objects = try TLV.children(list).map { Array(list[$0.start..<$0.end]) }
            return objects.allSatisfy { $0.count <= 255 } ? objects : nil
        } catch {
            return nil
        }
    }

    /// READ DATA for the next envelope, or what follows the last one.
    mutating func nextData() -> KernelStep {
        guard let tag = toRead.first else { return prepareCryptogram() }
        state = .readingData
        let name = Array(Kernel2.bytes(tag.rawValue).dropFirst())
        return KernelStep(.transmit(ShortCommand.make(0x84, 0x32, 0x00, 0x00, name)))
    }

    /// An envelope that cannot be read clears Read Data Status (9F821C); the transaction goes on without it.
    mutating func dataReceived(_ response: ResponseAPDU) -> KernelStep {
        let tag = toRead.isEmpty ? nil : toRead.removeFirst()
        if !response.status.isSuccess || !take(response.data, tag) { store.set(.readDataStatus, [0x00]) }
        return nextData()
    }

    private mutating func take(_ data: [UInt8], _ tag: Tag?) -> Bool {
        guard let object = channel?.open(data) else { return false }
        do throws(CardDataError) {
            guard try ResponseTemplate(object).tag == tag else { return false }
            try store.store(object, policy: Kernel8.policy)
            return true
        } catch {
            return false
        }
    }

    /// WRITE DATA for the next envelope; P2 bit 8 says that another follows. After the last one the outcome.
    mutating func nextWrite() -> KernelStep {
        guard let object = toWrite.first, let sealed = channel?.seal(object) else { return conclude() }
        state = .writingData
        let more: UInt8 = toWrite.count > 1 ? 0x80 : 0x00
        return KernelStep(.transmit(ShortCommand.make(0x84, 0x34, 0x00, more, sealed)))
    }

    /// The card acknowledges with a MAC. The first envelope that it does not take is the last one sent.
    mutating func writeAnswered(_ response: ResponseAPDU) -> KernelStep {
        guard let object = toWrite.first, response.status.isSuccess,
            channel?.accepts(response.data, for: object) == true
        else { return conclude() }
        toWrite.removeFirst()
        if toWrite.isEmpty { store.set(.writeDataStatus, [0x80]) }
        return nextWrite()
    }
}
