// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// What a simulated Visa card answers to the SELECT of its directory.
func directoryOfVisa() -> [UInt8]? {
    guard var card = CardCatalogue.card(named: "visa") else { return nil }
    card.powerOn()
    let select = [0x00, 0xA4, 0x04, 0x00, 0x0E] + Array("2PAY.SYS.DDF01".utf8) + [UInt8(0x00)]
    guard case .answer(let bytes) = card.answer(select) else { return nil }
    return bytes
}
