"""What the kernel tells of itself in files: /proc and /sys, made up from the machine's state when somebody looks."""
