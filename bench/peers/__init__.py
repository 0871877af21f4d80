"""The same drain in other queues. Each file is a program of its own, run by an interpreter that has the peers installed.

    python bench/peers/huey_drain.py FOLDER COUNT PAYLOAD [OPTION]

puts COUNT jobs into a new database in FOLDER, runs them, and prints the seconds that running them took.
"""
