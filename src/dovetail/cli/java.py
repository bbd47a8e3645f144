"""Finding out, before Spark tries and fails, whether there is a Java that it can use."""

import os
import re
import shutil
import subprocess
from pathlib import Path

SUPPORTED = ("17", "21")
ADVICE = (
    "Install one (Debian and Ubuntu: apt install openjdk-17-jre-headless, macOS: brew install openjdk@17) "
    "or set JAVA_HOME to it, and try again."
)


def complaint_about_java() -> str | None:
    """One sentence that says what to do if Spark cannot run here; None if it can."""
    java = find_java()
    if java is None:
        return f"Spark needs Java {' or '.join(SUPPORTED)}, and there is none here. {ADVICE}"
    found = java_version(java)
    if found not in SUPPORTED:
        return f"Spark needs Java {' or '.join(SUPPORTED)}, and {java} is Java {found or '?'}. {ADVICE}"
    return None


def find_java() -> Path | None:
    """The Java that Spark will start: that of JAVA_HOME if it is set, else that on the path."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    return Path(found) if found else None


def java_version(java: Path) -> str | None:
    """The specification version of a Java: 17, 21, or 1.8 for old ones."""
    try:
        asked = subprocess.run(
            [java, "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = re.search(r"java\.specification\.version = (\S+)", asked.stderr)
    return said[1] if said else None
