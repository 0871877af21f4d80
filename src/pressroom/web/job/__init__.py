"""The parts of a job's page.

| part | what it is |
|---|---|
| `details.py` | all rows about one job, read in one transaction |
| `history.py` | its events as sentences, and its attempts |
| `source_lines.py` | its source with numbered lines, and the lines around a mistake |
| `cache.py` | why it was rendered, and how often its result was reused |
| `output.py` | its artifacts, and how a browser may show them |
| `clone.py` | the form that submits a changed copy of it |
"""
