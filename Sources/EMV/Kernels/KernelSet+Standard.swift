extension KernelSet {
    /// All kernels of this module.
    public static let standard: KernelSet = {
        var kernels = KernelSet()
        kernels.register(.mastercard) { Kernel2() }
        kernels.register(.visa) { Kernel3() }
        return kernels
    }()
}
