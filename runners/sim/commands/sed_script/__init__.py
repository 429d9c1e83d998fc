"""sed's language: parsing a script and running it."""
