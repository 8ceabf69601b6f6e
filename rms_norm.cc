kernels 3
