// Package store stores what a scheduler must not lose: accepted jobs, the committed plan, reports, checkpoints and
// endings. After a call without an error, its changes survive kill -9 and a power failure, if the disk honours
// syncs.
//
// The store is one SQLite database in write-ahead-log mode, synced at every transaction, for one process at a
// time. Specs, statuses, reports and checkpoints are JSON of their Go types; fields used in queries have columns
// too. Renaming, removing or redefining a stored field or constant needs a migration. A new field needs none if
// zero is right for old rows.
//
// An error means that nothing was written, except if the machine stops directly after a failed sync.
//
// SQLite detects damage to the structure of its file, which Open checks. It drops everything after damage in its
// log, so the last transactions may be missing without a warning. It cannot detect a changed digit in a value.
// Load refuses invalid JSON, unknown fields and contradictions between columns.
package store
