"""Past one machine: what happens when servers, networks and clocks fail under real processes."""

JOURNAL = "CHAOS_JOURNAL"  # names the file in which the processes write down what they do
