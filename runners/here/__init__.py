"""This machine: whose process made what, where images are kept, what is installed, and its package archive.

Every kind of real host stands on it, and none of them on another.
"""
