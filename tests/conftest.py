"""Puts this folder on the path, so that tests of every stage can import ``hand_made``."""
