// SPDX-License-Identifier: Apache-2.0
import CNFC
import CardBytes

/// A card as libnfc's record describes it.
///
/// Each `unsafe` reads a member of its union: the one that the type of modulation names.
struct LibNFCTarget {
    let modulation: nfc_modulation
    let activation: CardActivation

    /// Reads the record; lengths that the reader sent are not trusted beyond the arrays they belong to.
    init(_ target: nfc_target) {
        modulation = target.nm
        guard target.nm.nmt == NMT_ISO14443B else {
            let info = unsafe target.nti.nai
            activation = CardActivation(
                technology: .typeA, uid: LibNFCTarget.bytes(of: info.abtUid, count: info.szUidLen),
                answerToSelect: LibNFCTarget.bytes(of: info.abtAts, count: info.szAtsLen), sak: info.btSak)
            return
        }
        let info = unsafe target.nti.nbi
        activation = CardActivation(
            technology: .typeB, uid: LibNFCTarget.bytes(of: info.abtPupi, count: 4),
            answerToSelect: LibNFCTarget.bytes(of: info.abtProtocolInfo, count: 3))
    }

    private static func bytes<Field>(of field: Field, count: Int) -> [UInt8] {
        // A tuple of bytes, for the length of the closure.
        unsafe withUnsafeBytes(of: field) { unsafe Array($0.prefix(max(0, count))) }
    }
}
