"""Tests of the simulated clouds."""
