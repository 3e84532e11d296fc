// SPDX-License-Identifier: Apache-2.0
extension KernelSet {
    /// All kernels of this module.
    public static let standard: KernelSet = {
        var kernels = KernelSet()
        kernels.register(.mastercard) { Kernel2() }
        kernels.register(.visa) { Kernel3() }
        kernels.register(.americanExpress) { Kernel4() }
        kernels.register(.jcb) { Kernel5() }
        kernels.register(.discover) { Kernel6() }
        kernels.register(.unionPay) { Kernel7() }
        kernels.register(.c8) { Kernel8() }
        return kernels
    }()
}
