addon 3
