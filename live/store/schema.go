package store

import (
	"crypto/rand"
	"database/sql"
	"fmt"
)

// migrations bring an empty database to the current schema, one transaction each. They are append-only:
// user_version is the number of applied ones.
var migrations = []string{
	`CREATE TABLE state (
		one      INTEGER PRIMARY KEY CHECK (one = 1),
		identity TEXT NOT NULL,
		round    INTEGER NOT NULL, -- of the last plan, 0: none
		time     TEXT NOT NULL,    -- of the last plan
		reports  INTEGER NOT NULL  -- the last that was stored before the plan
	) STRICT;
	CREATE TABLE jobs (
		number     INTEGER PRIMARY KEY, -- order of acceptance; rows are never deleted
		id         TEXT NOT NULL UNIQUE,
		token      TEXT NOT NULL UNIQUE,
		class      TEXT NOT NULL,
		spec       TEXT NOT NULL, -- JSON
		asked      TEXT NOT NULL, -- JSON
		command    BLOB NOT NULL, -- strings, each with a zero byte behind it
		dir        TEXT NOT NULL,
		env        BLOB NOT NULL, -- as command
		generation INTEGER NOT NULL,
		status     TEXT NOT NULL, -- JSON
		batch      TEXT NOT NULL, -- JSON
		failures   INTEGER NOT NULL,
		ended      INTEGER UNIQUE, -- order of ending; null: it has not
		outcome    TEXT CHECK (outcome IN ('done', 'failed', 'cancelled')),
		detail     TEXT,
		ended_at   TEXT,
		CHECK ((ended IS NULL) = (outcome IS NULL) AND (ended IS NULL) = (detail IS NULL)
			AND (ended IS NULL) = (ended_at IS NULL))
	) STRICT;
	CREATE INDEX jobs_active ON jobs (number) WHERE ended IS NULL;
	CREATE INDEX jobs_ended ON jobs (class, ended) WHERE ended IS NOT NULL;
	CREATE TABLE slots (
		slot INTEGER PRIMARY KEY, -- no slot has two holders
		job  INTEGER NOT NULL REFERENCES jobs,
		rank INTEGER NOT NULL,
		UNIQUE (job, rank)
	) STRICT;
	CREATE TABLE reports (
		id   INTEGER PRIMARY KEY AUTOINCREMENT, -- order of arrival
		job  INTEGER NOT NULL REFERENCES jobs,
		at   TEXT NOT NULL,
		body TEXT NOT NULL -- JSON
	) STRICT;
	CREATE INDEX reports_job ON reports (job, id);
	CREATE TABLE checkpoints (
		id   INTEGER PRIMARY KEY AUTOINCREMENT,
		job  INTEGER NOT NULL REFERENCES jobs,
		path TEXT NOT NULL,
		body TEXT NOT NULL, -- JSON
		UNIQUE (job, path)
	) STRICT;`,
	`ALTER TABLE jobs ADD COLUMN user TEXT NOT NULL DEFAULT 'null'; -- JSON`,
}

// migrate refuses a newer database. If one fails, the earlier ones stay.
func migrate(db *sql.DB, list []string) error {
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(list) {
		return fmt.Errorf("schema %d is newer than this version of oxgang supports (%d): use a newer version", version, len(list))
	}
	for n := version + 1; n <= len(list); n++ {
		if err := step(db, n, list[n-1]); err != nil {
			return fmt.Errorf("migration to schema %d: %w", n, err)
		}
	}
	return nil
}

func step(db *sql.DB, n int, migration string) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is left of what failed; nothing to do after Commit
	if _, err := tx.Exec(migration); err != nil {
		return err
	}
	if n == 1 {
		if _, err := tx.Exec("INSERT INTO state VALUES (1, ?, 0, ?, 0)", rand.Text(), noTime); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", n)); err != nil {
		return err
	}
	return tx.Commit()
}
