"""What an engine does when memory or CPU time is short."""
