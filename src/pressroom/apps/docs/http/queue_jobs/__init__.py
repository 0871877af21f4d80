"""Jobs as rows of design 004's table of jobs, over HTTP."""
