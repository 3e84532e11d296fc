// SPDX-License-Identifier: Apache-2.0
extension CardCatalogue {
    /// Cards of kernel 8. Certificates are signed once a process.
    static let commonKernel: [Entry] = [
        Entry(name: "c8", summary: "kernel 8, secure channel, encrypted records, ECC certificates") {
            PaymentCard(.commonKernel(Personalised.card))
        },
        Entry(name: "c8-phone", summary: "kernel 8 phone that verified its holder") {
            PaymentCard(.commonKernel(Personalised.phone))
        },
        Entry(name: "c8-declines", summary: "kernel 8, AAC to everything") {
            PaymentCard(.commonKernel(Personalised.declining))
        },
    ]
}

extension CardProfile {
    /// One application that the PPSE lists for kernel 8.
    static func commonKernel(_ application: CommonKernelApplication) -> CardProfile {
        CardProfile(
            directory: [
                DirectoryEntry(name: application.files.name, label: "TEST C-8", priority: 1, kernel: [0x08])
            ], applications: [application])
    }
}

private enum Personalised {
    static let card = CommonKernelApplication.personalised()
    static let declining = CommonKernelApplication.personalised(disposition: .alwaysDeclines)
    static let phone: CommonKernelApplication = {
        var options = CommonKernelOptions()
        options.verifiesCardholder = true
        return .personalised(options: options)
    }()
}
