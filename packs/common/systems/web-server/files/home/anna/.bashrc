# ~/.bashrc: executed by bash(1) for non-login shells.
alias ll='ls -l'
alias la='ls -A'
