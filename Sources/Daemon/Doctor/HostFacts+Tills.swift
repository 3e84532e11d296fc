// SPDX-License-Identifier: Apache-2.0

/// The ledgers of tills behind `nfc-tap-ecr`.
extension HostFacts {
    private static let ledgers = "/var/lib/nfc-tap-ecr"

    /// The program keeps a damaged ledger beside the new one until a person has looked into it.
    func tills() -> [Finding] {
        let damaged = ".ledger.damaged"
        return tree.entries(Self.ledgers).filter { $0.hasSuffix(damaged) }.map { name in
            Finding(
                .tills, .error,
                "the ledger of the till \(name.dropLast(damaged.count)) was damaged: a payment may be approved and missing in the till",
                remedy: "compare the till's list with nfc-tap list, then remove \(Self.ledgers)/\(name)")
        }
    }
}
