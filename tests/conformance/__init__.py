"""What others say is right: specifications and examples that nobody here wrote, fetched from the registries by name.

registries.py fetches them, specs.py and diagrams.py read them, trial.py draws them, differences.py lists where we differ and
why. docs/conformance.md shows the figures; `./dev bench engines` prints them.
"""
