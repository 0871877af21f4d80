"""Mutation testing: plant one small mistake at a time in a scratch copy of the tree, and name the test that notices.

`mutation` is one such mistake; `python_operators` and `sql_operators` find places for them; `recorder` and `coverage_map`
choose the tests for one; `scratch` is the copy in which they run; `campaign` judges. docs/decisions.md says why it is ours.
"""
