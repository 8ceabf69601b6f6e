engine 3
trainer 3
