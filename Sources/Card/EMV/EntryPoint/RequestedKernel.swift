// SPDX-License-Identifier: Apache-2.0
/// Which kernel a directory entry asks for.
enum RequestedKernel: Equatable {
    /// Any kernel of the combination will do (Requested Kernel ID 0).
    case any
    case kernel(KernelIdentifier)
    /// The entry is to be skipped.
    case none

    func accepts(_ kernel: KernelIdentifier) -> Bool {
        switch self {
        case .any: true
        case .kernel(let requested): requested == kernel
        case .none: false
        }
    }
}
