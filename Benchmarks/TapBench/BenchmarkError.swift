// SPDX-License-Identifier: Apache-2.0
/// Why a benchmark stopped: it never prints a figure for work that went wrong.
enum BenchmarkError: Error, CustomStringConvertible {
    case wrongResult(String)
    case wrongUse(String)
    /// A part of the machine that this benchmark needs is not there.
    case missing(String)
    case pcsc(call: String, code: UInt32)
    case failed(String)

    var description: String {
        switch self {
        case .wrongResult(let what): "wrong result: \(what)"
        case .wrongUse(let what): "wrong use: \(what)"
        case .missing(let what): what
        case .pcsc(let call, let code): "\(call) failed with 0x\(String(code, radix: 16))"
        case .failed(let what): what
        }
    }
}
