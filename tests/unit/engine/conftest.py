"""As many random cases as in the properties."""

from tests.properties.conftest import COMMON as COMMON
