"""Sessions: files read once, checked documents, frozen plans."""
