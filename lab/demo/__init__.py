"""`make demo`: what a platform engineer does with the project, and what an intruder fails to do."""
