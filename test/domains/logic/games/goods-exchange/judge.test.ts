import { testAnswers } from "../../judge.ts";

testAnswers("goods_exchange", { metadata: { owns_after: "(('Ann','red book'),('Bob','blue hat'))" } }, [
  ["```python\n(('Ann','red book'),('Bob','blue hat'))\n```", "correct", "correct"],
  ['```python\n(("bob", "Blue Hat"), ("ANN", " red book "),)\n```', "correct", "correct"],
  ["```python\n((Ann,red book),(Bob, blue hat))\n```", "correct", "correct"],
  [
    "```python\n(('Ann','hat'),)\n```\n```python\n(('Ann','red book'),('Bob','blue hat'))\n```",
    "correct",
    "correct",
  ],
  ["```python\n(('Ann','hat'),('Ann','red book'),('Bob','blue hat'))\n```", "correct", "wrong"],
  ["```python\n(('Ann','blue hat'),('Bob','red book'))\n```", "wrong", "wrong"],
  ["```python\n(('Ann','red book'),)\n```", "wrong", "wrong"],
  ["```python\n(('Ann','red book'),('Bob','blue hat'),('Cy','cup'))\n```", "wrong", "wrong"],
  ["```python\n(('Ann','red book'),('Cy','blue hat'))\n```", "wrong", "wrong"],
  ["```python\n(('Ann',1),('Bob','blue hat'))\n```", "wrong", "wrong"],
  ["```python\n[('Ann','red book'),('Bob','blue hat')]\n```", "wrong", "wrong"],
  ["```python\n{'Ann':'red book','Bob':'blue hat'}\n```", "wrong", "wrong"],
  ["```python\n()\n```", "wrong", "wrong"],
  ["```python\n(__import__('os').system('true'))\n```", "wrong", "wrong"],
  ["```python (('Ann','red book'),('Bob','blue hat'))```", "wrong", "wrong"],
  ["(('Ann','red book'),('Bob','blue hat'))", "wrong", "wrong"],
]);
