// SPDX-License-Identifier: Apache-2.0
/// The kernels that a terminal has, by their identifier.
public struct KernelSet: Sendable {
    /// Makes a fresh kernel for one run.
    public typealias Maker = @Sendable () -> any Kernel

    private var makers: [(kernel: KernelIdentifier, make: Maker)] = []

    public init() {}

    /// Adds a kernel, or puts another in the place of the one with this identifier.
    public mutating func register(_ kernel: KernelIdentifier, _ make: @escaping Maker) {
        makers.removeAll { $0.kernel == kernel }
        makers.append((kernel, make))
    }

    public func make(_ kernel: KernelIdentifier) -> (any Kernel)? {
        makers.first { $0.kernel == kernel }?.make()
    }

    public func contains(_ kernel: KernelIdentifier) -> Bool { makers.contains { $0.kernel == kernel } }
}
