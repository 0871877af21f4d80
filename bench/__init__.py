"""How fast Pressroom is, always beside something else measured in the same run: `./dev bench queue`, `./dev bench engines`.

A rate alone says more about the machine than about the queue. Each figure is a ratio: ours over the raw limit of the disk,
over a peer, or over ourselves without the load. Ours and the other take turns, so that whatever else the machine does
falls on both, and medians decide.
"""
