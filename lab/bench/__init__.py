"""`make bench`: the speed figures, each from one run on this machine."""
