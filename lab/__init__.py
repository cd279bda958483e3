"""The embedded lab: real engine and API server, simulated clouds."""
