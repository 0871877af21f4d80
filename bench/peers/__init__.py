"""The same work by others. Each file is a program of its own, run by an interpreter that has the peers installed.

    python bench/peers/huey_drain.py FOLDER COUNT PAYLOAD [OPTION]

puts COUNT jobs into a new database in FOLDER, runs them, and prints the seconds that running them took.

    python bench/peers/markdown_rate.py LIBRARY PAGE SECONDS

turns a page into HTML for so many seconds, and prints how often it did in one.

    python bench/peers/arq_queue.py PART COUNT

runs one part of the course that course.py describes, and prints one line of JSON.
"""
