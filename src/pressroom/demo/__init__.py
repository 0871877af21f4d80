"""A database to look at: a day in the life of a press, lived through on a clock that is moved.

Nothing here writes rows of its own making. Jobs are submitted, claimed, rendered and settled by the same
units of work as in production, one appointment after another, so that the demonstration shows what the press does.
"""
