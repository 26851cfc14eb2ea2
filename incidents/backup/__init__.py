"""Everything that the library holds in one file, taken while it serves, and put back without losing anything.

A backup is a zip archive of a manifest and a consistent copy of the database; what is made from the database (index,
caches, collected static files) is made again after a restore. Secrets of the place stay at the place: `secret_key` and
sign-in sessions are not in it.
"""

from incidents.backup.archive import Manifest
from incidents.backup.making import BackupReport, backup_name, make_backup, prune
from incidents.backup.restoring import RestoreReport, restore_backup

__all__ = ["BackupReport", "Manifest", "RestoreReport", "backup_name", "make_backup", "prune", "restore_backup"]
