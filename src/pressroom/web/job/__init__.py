"""What the page of a job is made of.

| part | what it is |
|---|---|
| `dossier.py` | everything that is known of one job, from one look at the database |
| `story.py` | its history in plain words, and its attempts |
| `lines.py` | its source with numbered lines, and the lines around a mistake |
| `cache.py` | why it was rendered, and who was spared rendering it again |
| `output.py` | what it made, and how a browser may look at that |
| `clone.py` | the form that makes another job of it |
"""
