"""Check the file in AKM_ITEM; print {"file", "problems"}."""

import ast
import json
import os
from pathlib import Path

name = json.loads(os.environ["AKM_ITEM"])
longest = json.loads(os.environ["AKM_PARAMS"])["longest"]
text = Path(name).read_text(encoding="utf-8")
problems = []
for number, line in enumerate(text.splitlines(), 1):
    if len(line) > longest:
        problems.append(f"{name}:{number}: {len(line)} characters, at most {longest}")
    if line != line.rstrip():
        problems.append(f"{name}:{number}: blanks at the end of the line")
    if line.startswith(("<<<<<<< ", ">>>>>>> ")):
        problems.append(f"{name}:{number}: a conflict marker was left behind")
if name.endswith(".py"):
    try:
        ast.parse(text)
    except SyntaxError as error:
        problems.append(f"{name}:{error.lineno}: {error.msg}")
print(json.dumps({"file": name, "problems": problems}))
