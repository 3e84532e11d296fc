// SPDX-License-Identifier: Apache-2.0
import Linux
import PaymentValues

extension Language {
    /// In which a command speaks that was told no language: as the user's locale says.
    static let spoken = Language(locale: { Environment.value($0) })

    /// - Parameter tag: of `--language`, BCP 47.
    init(option tag: String?) { self = tag.map { Language(tag: $0) } ?? .spoken }
}
