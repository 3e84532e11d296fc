// SPDX-License-Identifier: Apache-2.0
import CardBytes

protocol GeneratingState: RecordReadingState {
    static var generatingAC: Self { get }
}

/// A kernel that asks once for a cryptogram, which CDA may sign: 4 and 5.
protocol GeneratingKernel: CertifiedKernel where State: GeneratingState {
    var tvr: TVR { get }
    /// Card and reader do CDA.
    var wantsCDA: Bool { get }
    /// The type of cryptogram asked for.
    var requested: ApplicationCryptogram { get }
    var requestedCDA: Bool { get set }
    /// Values of CDOL1 as sent.
    var cdolData: [UInt8] { get set }
}

extension GeneratingKernel {
    /// The first GENERATE AC (K4-7, K5-4; EMV Book 3 §9.3).
    ///
    /// - Parameter l2: the error of a card whose list cannot be filled.
    mutating func generateAC(orFail l2: ErrorIndication.L2) -> KernelStep {
        requestedCDA = GenerateAC.asksForCDA(requested, wantsCDA, tvr)
        guard let values = store.fill(listIn: .cdol1),
            let command = GenerateAC.command(requested, cda: requestedCDA, cdolData: values)
        else { return fail(l2, at: .cryptogram) }
        cdolData = values
        state = .generatingAC
        return KernelStep(.transmit(command))
    }
}
