// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The names of the applications that a card's directory lists.
func applicationNames(in answer: [UInt8]) throws(TLVError) -> [String] {
    try TLV.nodes(answer).filter { $0.tag == 0x4F }.map { Hex.string(answer[$0.value]) }
}
