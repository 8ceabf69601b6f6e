dist 3
