text 3
