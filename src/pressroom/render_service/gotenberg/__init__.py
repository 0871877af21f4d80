"""The routes that clients of Gotenberg use most: HTML and Markdown to PDF, and merging.

docs/render-service.md lists the fields.
"""
