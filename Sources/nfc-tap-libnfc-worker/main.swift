// SPDX-License-Identifier: Apache-2.0
import Glibc
import ReaderNFCWorker

exit(LibNFCWorker.run())
