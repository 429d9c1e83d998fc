"""systemd: unit files, the manager's state, the journal."""
