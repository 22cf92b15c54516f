// Package store keeps what a scheduler must not lose: the jobs it accepted, the plan it
// committed, what its jobs reported, their checkpoints and how they ended. If a call returns
// without an error, its changes are durable: they are there after kill -9 and after a power
// failure, as far as the disk keeps what it was told to sync.
//
// It is one SQLite database in write-ahead-log mode, synced at every transaction, and used by
// one process at a time. Specs, statuses, reports and checkpoints are JSON, with the fields of
// their Go types; what SQL queries use has columns of its own. A migration is needed if a field
// of a stored type is renamed, removed or changes its meaning, and if a constant gets another
// number. A new field needs none if zero is right for old rows.
//
// An error means that nothing was written, with one exception that no database avoids: if the
// machine stops directly after a failed sync, the failed transaction may be there. Load shows
// whether it is.
//
// SQLite detects damage to the structure of its file (pages, records, types of columns, indexes
// that do not match their tables); Open looks for that. It also detects damage to its log, and
// drops everything after the damage: then the last transactions are missing without a
// warning. It cannot detect a flipped bit inside a value that changes a digit. Load refuses what
// is no valid JSON, has unknown fields, or contradicts another column.
package store
