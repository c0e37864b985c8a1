"""The guard (section 14): a call that leaves is valid JSON, names an offered tool and fits that tool's own schema.

It is imported only where an option turns it on.
"""
