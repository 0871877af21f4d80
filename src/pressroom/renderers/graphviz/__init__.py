"""Graphviz in WebAssembly."""
