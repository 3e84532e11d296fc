import Glibc
import ReaderNFC

exit(LibNFCWorker.run())
