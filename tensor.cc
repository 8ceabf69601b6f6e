core 3
