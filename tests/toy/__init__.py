"""A small app that uses everything an app can bring. docs/writing-an-app.md walks through it."""
