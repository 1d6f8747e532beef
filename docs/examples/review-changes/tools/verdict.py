"""Fold the results of all files into one verdict."""

import json
import os

results = json.loads(os.environ["AKM_INPUTS"])["steps.check-file.output"]
problems = [problem for result in results for problem in result["problems"]]
summary = "\n".join([f"{len(problems)} problems in {len(results)} changed files", *problems])
print(json.dumps({"verdict": "problems" if problems else "clean", "summary": summary}))
