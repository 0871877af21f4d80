"""Diagrams as a service: render, short links, named diagrams, and a drop-in for Kroki's clients (designs 001 and 003)."""
