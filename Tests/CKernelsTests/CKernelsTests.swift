import CKernels
