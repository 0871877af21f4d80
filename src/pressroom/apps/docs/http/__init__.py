"""The HTTP interface: thin handlers over the operations, in the words of design 004."""
