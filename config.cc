model 3
