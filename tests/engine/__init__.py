"""The demo's promises as assertions, on the real engine, the real API server and the stand-ins."""
