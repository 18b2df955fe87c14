"""The Swift programs as README.md installs them."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = ["swift", "build", "-c", "release", "--static-swift-stdlib"]


def install():
    """Installs missing peers from Debian."""
    subprocess.run([os.path.join(ROOT, "tools", "setup"), "bench"], check=True, stdout=sys.stderr)


def build(*products):
    """Builds the products and returns their directory."""
    for product in products:
        print(f"building {product} (some minutes the first time)", file=sys.stderr, flush=True)
        subprocess.run([*RELEASE, "--product", product], cwd=ROOT, check=True, stdout=sys.stderr)
    return subprocess.run([*RELEASE, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
