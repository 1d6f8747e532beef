"""What a person or a program is shown of runs: documents, text, the live view, events; nothing is decided here."""
