"""What the processes of the chaos lab work on: a kind of the crash lab, which writes down what it does."""

import os
from pathlib import Path

from tests.chaos import JOURNAL
from tests.reliability.journal import Journal
from tests.reliability.workload import Handlers

(note,) = (kind for kind in Handlers(Journal(Path(os.environ[JOURNAL]))).kinds() if kind.name == "note")
