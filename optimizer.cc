kernels 3
trainer 3
