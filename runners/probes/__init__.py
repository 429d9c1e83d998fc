"""What probes expect of what was seen: one judge for each probe type, whichever backend looked.

Invariant: a judge is given values and touches no machine. What took time to find out is found out when it is asked for.
"""
