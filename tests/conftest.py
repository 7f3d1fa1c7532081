"""Puts this folder on the path, so that tests of every stage can import ``hand_made``."""

import os

from hypothesis import HealthCheck, settings

os.environ["COALESCECHECK_CACHE"] = ""  # tests that want a cache give it a folder of their own

# no test is timed: a busy machine is no fault of ours
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
