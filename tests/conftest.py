"""Puts this folder on the path, so that tests of every stage can import ``hand_made``."""

import os

os.environ["COALESCECHECK_CACHE"] = ""  # tests that want a cache give it a folder of their own
