// SPDX-License-Identifier: Apache-2.0
/// What the user is told before the program ends.
struct StartFailure: Error, CustomStringConvertible {
    let description: String

    init(_ phrase: String, hint: String? = nil) {
        description = hint.map { "\(phrase)\nnfc-tapd: hint: \($0)" } ?? phrase
    }
}
