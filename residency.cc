engine 3
