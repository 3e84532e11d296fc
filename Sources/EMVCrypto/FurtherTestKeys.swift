// SPDX-License-Identifier: Apache-2.0
extension CAPublicKeys {
    /// A row of further-test-keys.tsv.
    struct FurtherTestKey: Sendable {
        let row: Row
        /// Whether several publishers call it a test key.
        let isConfirmed: Bool
        /// The lists that have it.
        let sources: String
    }

    /// Keys of further lists, with their sources. The file's head says what is confirmed of them.
    static let furtherTestKeys: [FurtherTestKey] =
        String(decoding: PackageResources.further_test_keys_tsv, as: UTF8.self)
        .split(separator: "\n")
        .filter { !$0.hasPrefix("#") }
        .compactMap { line in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count == 7 else { return nil }
            return FurtherTestKey(
                row: Row(
                    rid: fields[0], index: fields[1], exponent: fields[2], checksum: fields[3], modulus: fields[6]),
                isConfirmed: fields[4] == "test", sources: fields[5])
        }
}
