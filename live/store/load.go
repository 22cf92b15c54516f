package store

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
)

const (
	keptEnded   = 50 // of a class: a restart learns from them
	listedEnded = 200
)

// Load returns a consistent state, for a scheduler that restarts.
func (s *Store) Load() (*State, error) {
	st := &State{}
	err := s.read(func(tx *sql.Tx) error {
		var at string
		var last int64
		err := tx.QueryRow("SELECT round, time, reports FROM state").Scan(&st.Round, &at, &last)
		if err != nil {
			return err
		}
		if st.Time, err = decodeTime(at); err != nil {
			return s.damaged(err)
		}
		const ended = `SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY class ORDER BY ended DESC) AS place
			FROM jobs WHERE ended IS NOT NULL) WHERE place <= ?`
		jobs, err := s.jobs(tx, "ended IS NULL OR number IN ("+ended+")", keptEnded)
		if err != nil {
			return err
		}
		return s.learn(tx, st, jobs, last)
	})
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (s *Store) learn(tx *sql.Tx, st *State, jobs []storedJob, last int64) error {
	known := make(map[int64]*Known, len(jobs))
	for _, f := range jobs {
		known[f.job.Number] = &Known{Job: f.job}
	}
	err := each(tx, func(rows *sql.Rows) error {
		var id, number int64
		var at, body string
		if err := rows.Scan(&id, &number, &at, &body); err != nil {
			return err
		}
		k := known[number]
		if k == nil {
			return nil
		}
		r, err := s.report(k.Job.Spec.ID, at, body)
		if err != nil {
			return err
		}
		if k.Job.Ended == nil && (id > last || r.At.After(st.Time)) {
			k.After = append(k.After, r)
		} else {
			k.Before = append(k.Before, r)
		}
		return nil
	}, "SELECT id, job, at, body FROM reports ORDER BY id")
	slices.SortFunc(jobs, byEnd)
	for _, f := range jobs {
		if k := known[f.job.Number]; f.ended == 0 {
			st.Jobs = append(st.Jobs, *k)
		} else {
			st.Ended = append(st.Ended, *k)
		}
	}
	return err
}

func (s *Store) report(id job.ID, at, body string) (Report, error) {
	var r Report
	err := decode(body, &r.Report)
	if err == nil {
		r.At, err = decodeTime(at)
	}
	if err == nil && r.Job != id {
		err = about(r.Job, errForeign)
	}
	if err != nil {
		return r, s.damaged(about(id, named("report", err)))
	}
	return r, nil
}

// Jobs returns the unfinished jobs in the order of acceptance. If all is true, it also returns the 200 jobs that ended
// last.
func (s *Store) Jobs(all bool) ([]*Job, error) {
	where := "ended IS NULL"
	if all {
		where += " OR number IN (SELECT number FROM jobs WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT ?)"
	}
	var list []*Job
	err := s.read(func(tx *sql.Tx) error {
		jobs, err := s.jobs(tx, where, listedEnded)
		for _, f := range jobs {
			list = append(list, f.job)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// An Outline states how often a job was started, and whether it has ended.
type Outline struct {
	Generation int // number of its last start; 0: never started
	Ended      bool
	EndedAt    time.Time     // zero if it has not ended
	User       *account.User // user who runs it; nil: the scheduler's user
}

// Outlines returns the outlines of all jobs ever accepted.
func (s *Store) Outlines() (map[job.ID]Outline, error) {
	all := map[job.ID]Outline{}
	err := s.read(func(tx *sql.Tx) error {
		return each(tx, func(rows *sql.Rows) error {
			id, o, err := s.outline(rows)
			all[id] = o
			return err
		}, "SELECT id, generation, ended IS NOT NULL, coalesce(ended_at, ''), user FROM jobs")
	})
	return all, err
}

func (s *Store) outline(rows *sql.Rows) (id job.ID, o Outline, err error) {
	at, user := "", ""
	if err = rows.Scan(&id, &o.Generation, &o.Ended, &at, &user); err != nil {
		return id, o, err
	}
	if o.Ended {
		o.EndedAt, err = decodeTime(at)
	}
	if err = errors.Join(err, named("user", decode(user, &o.User))); err != nil {
		err = s.damaged(about(id, err))
	}
	return id, o, err
}

type storedJob struct {
	job   *Job
	ended int64
}

func byEnd(a, b storedJob) int {
	return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(a.job.Number, b.job.Number))
}

func (s *Store) jobs(tx *sql.Tx, where string, limit int) ([]storedJob, error) {
	const columns = `SELECT number, id, token, class, spec, asked, command, dir, env, generation, status, batch, failures,
		coalesce(ended, 0), coalesce(outcome, ''), coalesce(detail, ''), coalesce(ended_at, ''), user FROM jobs WHERE `
	var list []storedJob
	by := map[int64]*Job{}
	args := []any{limit}[:strings.Count(where, "?")]
	err := each(tx, func(rows *sql.Rows) error {
		f, err := s.scan(rows)
		if err == nil {
			list = append(list, f)
			by[f.job.Number] = f.job
		}
		return err
	}, columns+where+" ORDER BY number", args...)
	if err == nil {
		err = holdings(tx, by)
	}
	if err == nil {
		err = s.checkpoints(tx, by)
	}
	return list, err
}

func holdings(tx *sql.Tx, by map[int64]*Job) error {
	return each(tx, func(rows *sql.Rows) error {
		var number int64
		var slot int
		err := rows.Scan(&number, &slot)
		if j := by[number]; j != nil {
			j.Held = append(j.Held, slot)
		}
		return err
	}, "SELECT job, slot FROM slots ORDER BY job, rank")
}

func (s *Store) checkpoints(tx *sql.Tx, by map[int64]*Job) error {
	return each(tx, func(rows *sql.Rows) error {
		var number int64
		var body string
		if err := rows.Scan(&number, &body); err != nil || by[number] == nil {
			return err
		}
		j, c := by[number], &Checkpoint{}
		if err := decode(body, c); err != nil {
			return s.damaged(about(j.Spec.ID, named("checkpoint", err)))
		}
		j.Checkpoint, j.Previous = c, j.Checkpoint
		return nil
	}, "SELECT job, body FROM checkpoints ORDER BY id")
}
