"""An HTTP service that makes PDF files, and nothing else: no database, no queue, nothing is kept.

Workers use it through `render_client` when `render_url` is set; clients of Gotenberg use its routes. docs/render-service.md.
"""
