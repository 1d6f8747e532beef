"""Print the summary that was attached to this unit."""

import json
import os

print(json.loads(os.environ["AKM_INPUTS"])["steps.verdict.output.summary"])
