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
        // By bytes, which is quicker than by characters: every start of a daemon reads them.
        PackageResources.further_test_keys_tsv
        .split(separator: UInt8(ascii: "\n"))
        .filter { $0.first != UInt8(ascii: "#") }
        .compactMap { line in
            let fields = line.split(separator: UInt8(ascii: "\t"))
                .map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 7 else { return nil }
            return FurtherTestKey(
                row: Row(
                    rid: fields[0], index: fields[1], exponent: fields[2], checksum: fields[3], modulus: fields[6]),
                isConfirmed: fields[4] == "test", sources: fields[5])
        }
}
