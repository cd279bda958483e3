"""What an operator's commands and an `up` say about a live cluster."""
