# SPDX-License-Identifier: MIT
"""recorder_id.py OUT FILE...: write a digest of the files. The digest names the build whose
recordings are in the store."""

import hashlib
import sys

digest = hashlib.sha256()
for name in sys.argv[2:]:
    with open(name, "rb") as f:
        digest.update(f.read())
with open(sys.argv[1], "w", encoding="ascii") as f:
    f.write(digest.hexdigest()[:16] + "\n")
