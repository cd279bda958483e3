"""One module for each way to get a pool's machines."""
