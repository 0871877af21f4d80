"""PDF files made into one: merged, numbered, stamped, pictured, read and compared.

`pack_pdfs` joins several files into one source of the engine; a plain PDF is a source too.
"""

from pressroom.renderers.pdf.container import pack_pdfs

__all__ = ["pack_pdfs"]
