"""The rules of the pack. They stand alone: nothing here is shared with the program that they judge."""
