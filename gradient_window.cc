trainer 3
