"""Print the changed and the new files of the working tree as one JSON list."""

import json
import os
import subprocess
from pathlib import Path

params = json.loads(os.environ["AKM_PARAMS"])


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], check=True, capture_output=True, text=True)
    return [name for name in done.stdout.split("\0") if name]


names = git("diff", "-z", "--name-only", "--relative", "--diff-filter=d", params["base"])
names += git("ls-files", "-z", "--others", "--exclude-standard")
print(json.dumps(sorted({name for name in names if Path(name).suffix in (".py", ".md", ".txt")})))
