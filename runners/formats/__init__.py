"""What worlds of every kind are read in: accounts, rules of sudo, crontabs, and what is typed into a shell."""
