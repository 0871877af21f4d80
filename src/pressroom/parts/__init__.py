"""The parts that a `Pressroom` is made of, each with one lifecycle."""
