// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Integrated data storage (IDS): an operator's data on the card, read with the options and written with the cryptogram
/// (C-2 S1.17 to S1.20, S3R1.10 to S3R1.13, S456.18 to S456.20, GAC.1 to GAC.13 and GAC.40 to GAC.45, S910.8 to
/// S910.19).
///
/// Off unless the terminal has DSVN Term (DF810D) and DS Requested Operator ID (9F5C). Two public implementations agree
/// on the steps; the one-way functions, the digest's operator identifier and the cut of the last DSDOL element rest on
/// one.
extension Kernel2 {
    /// DF8128 bit 8: the card's slot is read.
    var readsStorage: Bool { (store.byte(.idsStatus) ?? 0) & 0x80 != 0 }
    /// DF8128 bit 7: the cryptogram writes the slot.
    var writesStorage: Bool { (store.byte(.idsStatus) ?? 0) & 0x40 != 0 }
    /// 9F5D byte 1 bits 4 to 1: the card's version of data storage.
    private var storageVersion: UInt8 { capabilities(1) & 0x0F }
    /// 9F6F bit 5.
    var isSlotLocked: Bool { (store.byte(.dsSlotManagementControl) ?? 0) & 0x10 != 0 }

    /// C-2 S1.17 to S1.20.
    mutating func offerStorage() {
        guard store.isPresentNotEmpty(.dsvnTerm), store.isPresent(.dsRequestedOperatorID) else { return }
        exchange.tell([.dsID, .applicationCapabilities], store)
        if (1...2).contains(storageVersion), store.isPresentNotEmpty(.dsID) { store.set(.idsStatus, [0x80]) }
    }

    /// C-2 S3R1.10 to S3R1.13: what the card gave with the options decides whether the slot counts as read.
    mutating func readStorage() {
        guard readsStorage else { return }
        exchange.tell(
            [
                .dsSlotAvailability, .dsSummary1, .dsUnpredictableNumber, .dsSlotManagementControl, .dsODSCard,
                .unpredictableNumber,
            ], store)
        let hasSummary = store.isPresentNotEmpty(.dsSummary1)
        let isFree =
            hasSummary && store.isPresentNotEmpty(.dsSlotAvailability)
            && store.isPresentNotEmpty(.dsUnpredictableNumber) && !store.isPresent(.dsODSCard)
        if !isFree, !(hasSummary && store.isPresent(.dsODSCard)) { store.set(.idsStatus, [0x00]) }
    }

    /// C-2 S456.18 to S456.20: the slot belongs to this account: PAN and sequence number, 16 digits at least.
    var isStorageOfThisCard: Bool {
        guard let pan = BCD.digits(store.value(.pan) ?? []) else { return false }
        let sequence = store.byte(.panSequenceNumber) ?? 0
        var digits = pan + [sequence >> 4, sequence & 0x0F]
        let count = max(16, digits.count + digits.count % 2)
        digits = [UInt8](repeating: 0, count: count - digits.count) + digits
        let name = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return store.value(.dsID) == name
    }

    /// C-2 GAC.3 to GAC.13, where the slot is read and CDA may hold. The type of cryptogram becomes the operator's where
    /// it may.
    ///
    /// - Returns: why the transaction ends; `nil` where GENERATE AC follows.
    mutating func chooseStorage() -> ErrorIndication.L2? {
        guard store.isPresentNotEmpty(.dsODSInfo), store.isPresentNotEmpty(.dsdol) else { return nil }
        guard let wanted = store.byte(.dsACType), let instructions = store.byte(.dsODSInfoForReader) else {
            return .idsDataError
        }
        let type = ApplicationCryptogram(cryptogramInformation: wanted)
        if type == .aac || type == requested || (type == .arqc && requested == .tc) {
            requested = type ?? requested
        } else {
            let isUsable: Bool
            switch requested {
            case .aac: isUsable = instructions & 0x20 != 0
            case .arqc: isUsable = instructions & 0x40 != 0
            case .tc: isUsable = false
            }
            guard isUsable else { return instructions & 0x04 != 0 ? .idsNoMatchingAC : nil }
        }
        guard setDigest() else { return .idsDataError }
        store.set(.idsStatus, [(store.byte(.idsStatus) ?? 0) | 0x40])
        return nil
    }

    /// DS Digest H (C-2 GAC.40 to GAC.44). A slot that is permanent by the card and volatile by the terminal belongs to no
    /// operator.
    ///
    /// - Returns: `false` where a digest is asked for that cannot be computed.
    private mutating func setDigest() -> Bool {
        guard store.list(in: .dsdol, contains: .dsDigestH), store.isPresent(.dsInputTerm) else { return true }
        let isPermanent = (store.byte(.dsSlotManagementControl) ?? 0) & 0x80 != 0
        let isVolatile = (store.byte(.dsODSInfo) ?? 0) & 0x40 != 0
        let nobody = [UInt8](repeating: 0, count: 8)
        let identifier = isPermanent && isVolatile ? nobody : store.value(.dsRequestedOperatorID) ?? []
        let hash = storageVersion == 1 ? authentication.oneWayHash.des : authentication.oneWayHash.aes
        guard let digest = hash(store.value(.dsID) ?? [], identifier, store.value(.dsInputTerm) ?? []) else {
            return false
        }
        store.set(.dsDigestH, digest)
        return true
    }

    /// What the DSDOL asks for, behind the CDOL1's data. The last element keeps its own length where it is shorter than
    /// asked for; `nil` for a malformed list.
    func storageData() -> [UInt8]? {
        guard writesStorage, let list = store.value(.dsdol) else { return [] }
        var cursor = DOLCursor(0..<list.count)
        var data: [UInt8] = []
        var last: (tag: Tag, length: Int)?
        while let entry = cursor.next(list) {
            if let last { data += store.fill(list: last.tag.bytes + [UInt8(last.length)]) ?? [] }
            last = entry
        }
        guard !cursor.isMalformed else { return nil }
        guard let last else { return data }
        let length = min(last.length, store.count(last.tag) ?? 0)
        return data + (store.fill(list: last.tag.bytes + [UInt8(length)]) ?? [])
    }

    /// C-2 S910.8 to S910.19: the summaries in the signature say whether the slot was read, and whether it was written.
    ///
    /// - Parameter signed: what the signature holds after the hash: the summaries, then the relay-resistance values.
    mutating func judgeStorage(_ signed: ArraySlice<UInt8>) -> ErrorIndication.L2? {
        guard readsStorage else { return nil }
        let length = storageVersion == 1 ? 8 : 16
        let summaries = signed.dropLast(relay == nil ? 0 : 14)
        guard summaries.count >= length else { return .cardDataMissing }
        let second = Array(summaries.prefix(length))
        store.set(.dsSummary2, second)
        guard second == store.value(.dsSummary1) else { return .idsReadError }
        store.set(.dsSummaryStatus, [0x80])
        guard writesStorage else { return nil }
        guard summaries.count >= 2 * length else { return .cardDataMissing }
        let third = Array(summaries.dropFirst(length).prefix(length))
        store.set(.dsSummary3, third)
        guard third == second else {
            store.set(.dsSummaryStatus, [0xC0])
            return nil
        }
        return (store.byte(.dsODSInfoForReader) ?? 0) & 0x02 != 0 ? .idsWriteError : nil
    }
}

extension Kernel2Exchange {
    /// Objects for the terminal, empty where they are absent.
    mutating func tell(_ tags: [Tag], _ store: DataStore) {
        dataToSend += tags.map { DataObject($0, store.value($0) ?? []) }
    }
}
