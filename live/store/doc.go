// Package store keeps what a scheduler must not lose: the jobs it accepted, the plan it
// committed, what its jobs reported, their checkpoints and how they ended. A call that
// returned without an error is durable: it is there after kill -9 and after a power cut, as
// far as the disk keeps what it was told to sync.
//
// It is one SQLite database in write-ahead-log mode, synced at every transaction, used by
// one process at a time. Specs, statuses, reports and checkpoints are JSON, of the fields of
// their Go types; what is asked for by SQL has columns of its own. A field of a stored type
// that is renamed, removed or means something else, and a constant that gets another
// number, need a migration; a new field whose zero is right for old rows does not.
//
// An error means that nothing was written, with one exception that no database avoids: if
// the machine stops right after a failed sync, what failed may be there. Load says what is.
//
// SQLite sees damage to the structure of its file (pages, records, types of columns, indexes
// that are not those of their tables), which Open looks for, and to its log, of which it
// drops what follows the damage: then the last transactions are missing and nothing says so.
// It cannot see a bit that flipped inside a value, one digit into another. What no longer
// reads as JSON, has fields that are not known, or contradicts another column is refused by
// Load.
package store
