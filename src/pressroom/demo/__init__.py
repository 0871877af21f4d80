"""A database to look at: a day in the life of a press, lived through on a clock that is moved.

Nothing here writes rows of its own making. Jobs are submitted, claimed, rendered and settled by the units of work that serve
everybody, one appointment after another, so that what the demonstration shows is what the press does.
"""
