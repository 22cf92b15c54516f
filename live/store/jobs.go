package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Accept stores a new job. It sets the job's Number, and Asked if nil.
func (s *Store) Accept(j *Job) error {
	row, err := newRow(j)
	if err != nil {
		return s.explain(about(j.Spec.ID, err))
	}
	number := int64(0)
	err = s.write(func(tx *sql.Tx) error {
		if err := taken(tx, j); err != nil {
			return about(j.Spec.ID, err)
		}
		const insert = `INSERT INTO jobs (id, token, class, spec, asked, command, dir, env, generation, status, batch, failures, user)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number`
		return about(j.Spec.ID, tx.QueryRow(insert, row...).Scan(&number))
	})
	if err == nil {
		j.Number, j.Asked = number, cmp.Or(j.Asked, j.Spec)
		s.naming.Lock()
		defer s.naming.Unlock()
		s.see(j.Spec.ID)
	}
	return err
}

func newRow(j *Job) ([]any, error) {
	if err := fresh(j); err != nil {
		return nil, err
	}
	spec, err := encodeSpec(j.Spec)
	asked, err6 := encodeSpec(cmp.Or(j.Asked, j.Spec))
	command, err1 := encodeStrings(j.Request.Command)
	env, err2 := encodeStrings(j.Request.Env)
	_, err3 := encodeStrings([]string{j.Request.Dir})
	status, err4 := encodeStatus(j.Status)
	batch, err5 := encode(j.Batch)
	user, err7 := encode(j.Request.User)
	if err := errors.Join(err, named("command", err1), named("environment", err2), named("directory", err3), err4, err5, named("as asked", err6), named("user", err7)); err != nil {
		return nil, err
	}
	return []any{j.Spec.ID, j.Token, j.Spec.Class, spec, asked, command, j.Request.Dir, env, j.Generation, status, batch, j.Failures, user}, nil
}

func fresh(j *Job) error {
	switch {
	case !safe(string(j.Spec.ID)):
		return errors.New("want an ID of at most 100 letters, digits, '.', '_' and '-', beginning with a letter or a digit")
	case j.Token == "":
		return errors.New("no token")
	case j.Status.Phase.Terminal():
		return fmt.Errorf("phase %s: the job has ended", j.Status.Phase)
	case j.Ended != nil || j.Checkpoint != nil || j.Previous != nil || len(j.Held) > 0:
		return errors.New("want a new job, without slots, checkpoint or ending")
	}
	return nil
}

func taken(tx *sql.Tx, j *Job) error {
	var id job.ID
	var number int64
	err := tx.QueryRow("SELECT id, number FROM jobs WHERE id = ? OR token = ?", j.Spec.ID, j.Token).Scan(&id, &number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case id == j.Spec.ID:
		return fmt.Errorf("exists already, with number %d: use another ID", number)
	}
	return fmt.Errorf("job %s has the same token: use another", id)
}

// Describe replaces the specification of a job that has not ended.
func (s *Store) Describe(id job.ID, spec *job.Spec) error {
	body, err := encodeSpec(spec)
	if spec.ID != id {
		err = fmt.Errorf("spec of job %s, want its own", spec.ID)
	}
	if err != nil {
		return s.explain(about(id, err))
	}
	return s.write(func(tx *sql.Tx) error {
		number, err := active(tx, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE jobs SET class = ?, spec = ? WHERE number = ?", spec.Class, body, number)
		return about(id, err)
	})
}

// Report stores a report of an unfinished job. at is the scheduler's time of the report.
func (s *Store) Report(id job.ID, at time.Time, r *job.Report) error {
	body, err1 := encode(r)
	when, err2 := encodeTime(at)
	err := errors.Join(r.Validate(), err1, err2)
	if r.Job != id {
		err = fmt.Errorf("report of job %s, want its own", r.Job)
	}
	if err != nil {
		return s.explain(about(id, named("report", err)))
	}
	return s.explain(s.insert(id, when, body))
}

// insertReport is a transaction. It inserts nothing for a job that has ended.
const insertReport = "INSERT INTO reports (job, at, body) SELECT number, ?, ? FROM jobs WHERE id = ? AND outcome IS NULL"

func (s *Store) insert(id job.ID, when, body string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	done, err := s.reports.Exec(when, body, id)
	n := int64(0)
	if err == nil {
		n, err = done.RowsAffected()
	}
	if err != nil || n > 0 {
		return about(id, err)
	}
	return transaction(s.writer, func(tx *sql.Tx) error {
		_, err := active(tx, id) // returns the reason
		return err
	})
}

// Checkpoint stores a checkpoint of an unfinished job, and the job's number of failures in a row. The store keeps the
// last two checkpoints; an equal path replaces the earlier one.
func (s *Store) Checkpoint(id job.ID, c Checkpoint, failures int) error {
	c.At = c.At.UTC()
	body, err := encode(&c)
	if err := errors.Join(c.Validate(), err); err != nil {
		return s.explain(about(id, named("checkpoint", err)))
	}
	return s.write(func(tx *sql.Tx) error {
		number, err := active(tx, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE jobs SET failures = ? WHERE number = ?", failures, number)
		return about(id, cmp.Or(err, replace(tx, number, c.Path, body)))
	})
}

func replace(tx *sql.Tx, number int64, path, body string) error {
	_, err1 := tx.Exec("DELETE FROM checkpoints WHERE job = ? AND path = ?", number, path)
	_, err2 := tx.Exec("INSERT INTO checkpoints (job, path, body) VALUES (?, ?, ?)", number, path, body)
	_, err3 := tx.Exec(`DELETE FROM checkpoints WHERE job = ?1 AND id NOT IN
		(SELECT id FROM checkpoints WHERE job = ?1 ORDER BY id DESC LIMIT 2)`, number)
	return cmp.Or(err1, err2, err3)
}

const keptReports = 200

// End stores how a job ended, sets its final status and frees its slots. The store keeps the last 200 reports of ended
// jobs of each class; jobs without a class count as one class.
func (s *Store) End(id job.ID, e Ending) error {
	phase, ok := terminal[e.Outcome]
	at, err := encodeTime(e.At)
	if !ok {
		err = fmt.Errorf("outcome %s, want done, failed or cancelled", e.Outcome)
	}
	if err != nil {
		return s.explain(about(id, err))
	}
	return s.write(func(tx *sql.Tx) error {
		number, err := active(tx, id)
		if err == nil {
			err = about(id, settle(tx, number, phase, e.At))
		}
		if err != nil {
			return err
		}
		const update = `UPDATE jobs SET ended = 1 + (SELECT coalesce(max(ended), 0) FROM jobs WHERE ended IS NOT NULL), outcome = ?, detail = ?, ended_at = ? WHERE number = ?`
		_, err1 := tx.Exec(update, e.Outcome.String(), e.Detail, at, number)
		_, err2 := tx.Exec("DELETE FROM slots WHERE job = ?", number)
		return about(id, cmp.Or(err1, err2, prune(tx, number)))
	})
}

// Rename changes the identity of the state directory, after the database was rebuilt.
func (s *Store) Rename(identity string) error {
	err := s.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE state SET identity = ?", identity)
		return err
	})
	if err == nil {
		s.identity = identity
	}
	return err
}

var terminal = map[scheduler.Outcome]job.Phase{
	scheduler.Done: job.Completed, scheduler.Failed: job.Failed, scheduler.Cancelled: job.Cancelled,
}

func settle(tx *sql.Tx, number int64, phase job.Phase, now time.Time) error {
	var body string
	var st job.Status
	if err := tx.QueryRow("SELECT status FROM jobs WHERE number = ?", number).Scan(&body); err != nil {
		return err
	}
	if err := decode(body, &st); err != nil {
		return named("status", err)
	}
	st.Service, st.GPUService, st.Since = st.AttainedService(now), st.AttainedGPUService(now), now
	st.Allocation, st.Placement = cluster.Allocation{}, nil
	st.Phase, st.Finished = phase, now
	body, err := encodeStatus(st)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE jobs SET status = ? WHERE number = ?", body, number)
	return err
}

func prune(tx *sql.Tx, number int64) error {
	var some bool
	if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM reports WHERE job = ?)", number).Scan(&some); err != nil || !some {
		return err
	}
	const old = `WITH ended AS (SELECT number FROM jobs WHERE ended IS NOT NULL AND class = (SELECT class FROM jobs WHERE number = ?))
		DELETE FROM reports WHERE id IN
		(SELECT id FROM reports WHERE job IN ended ORDER BY id DESC LIMIT -1 OFFSET ?)`
	_, err := tx.Exec(old, number, keptReports)
	return err
}

func active(tx *sql.Tx, id job.ID) (int64, error) {
	var number int64
	var outcome, at sql.NullString
	err := tx.QueryRow("SELECT number, outcome, ended_at FROM jobs WHERE id = ?", id).Scan(&number, &outcome, &at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, about(id, errors.New("is unknown"))
	case outcome.Valid:
		return 0, about(id, fmt.Errorf("has ended already, %s at %s", outcome.String, at.String))
	}
	return number, about(id, err)
}

func about(id job.ID, err error) error { return named("job "+string(id), err) }

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
