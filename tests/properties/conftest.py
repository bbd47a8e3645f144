"""How many random cases: ``ci`` by default; HYPOTHESIS_PROFILE=thorough looks about twenty times longer."""

import os

from hypothesis import HealthCheck, settings

COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("ci", COMMON, max_examples=50)
settings.register_profile("thorough", COMMON, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
