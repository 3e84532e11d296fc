// SPDX-License-Identifier: Apache-2.0
import Linux
import PaymentValues

extension Language {
    /// In which a command speaks that was told no language: as the user's locale says.
    static let spoken = Language(locale: { Environment.value($0) })

    /// - Parameter tag: of `--language`, BCP 47.
    init(option tag: String?) { self = tag.map { Language(tag: $0) } ?? .spoken }

    /// The language in which a program speaks to whoever has started it, by the locale (POSIX.1-2024, Base Definitions 8.2): `LC_ALL`, else
    /// `LC_MESSAGES`, else `LANG`. Before it, unless it is `C`, comes GNU's list `LANGUAGE`: `nb:sv:de`. English where none of them has texts.
    ///
    /// - Parameter variable: gives the value of a variable of the environment.
    private init(locale variable: (String) -> String?) {
        var locale = ""
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] where locale.isEmpty { locale = variable(name) ?? "" }
        let tag = locale.prefix { $0 != "." && $0 != "@" }
        self = .english
        guard !tag.isEmpty, tag != "C", tag != "POSIX" else { return }
        for wish in (variable("LANGUAGE") ?? "").split(separator: ":").prefix(32) + [tag] {
            let primary = wish.lowercased().prefix { $0 != "-" && $0 != "_" && $0 != "." && $0 != "@" }
            guard let language = Language(rawValue: String(primary)) else { continue }
            self = language
            return
        }
    }
}
