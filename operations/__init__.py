"""What an operator does by hand against the live management cluster."""
