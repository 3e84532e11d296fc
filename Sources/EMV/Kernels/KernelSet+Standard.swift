extension KernelSet {
    /// All kernels of this module.
    public static let standard: KernelSet = {
        let kernels = KernelSet()
        return kernels
    }()
}
