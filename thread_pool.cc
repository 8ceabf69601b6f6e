addon 3
core 3
