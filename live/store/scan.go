package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/model/job"
)

var errForeign = errors.New("is another job, want the same in all columns")

type row struct {
	id                  job.ID
	class               job.Class
	spec, asked         string
	status, batch       string
	command, env        []byte
	outcome, detail, at string // of its ending
	user                string
}

func (s *Store) scan(rows *sql.Rows) (storedJob, error) {
	var r row
	f := storedJob{job: &Job{Spec: &job.Spec{}, Asked: &job.Spec{}}}
	j := f.job
	err := rows.Scan(&j.Number, &r.id, &j.Token, &r.class, &r.spec, &r.asked, &r.command, &j.Request.Dir, &r.env, &j.Generation, &r.status, &r.batch, &j.Failures,
		&f.ended, &r.outcome, &r.detail, &r.at, &r.user)
	if err != nil {
		return f, err
	}
	if err := r.decode(j, f.ended != 0); err != nil {
		return f, s.damaged(about(r.id, err))
	}
	return f, nil
}

func (r *row) decode(j *Job, ended bool) error {
	err := cmp.Or(
		named("spec", decode(r.spec, j.Spec)),
		named("spec as asked", decode(r.asked, j.Asked)),
		named("status", decode(r.status, &j.Status)),
		named("batch", decode(r.batch, &j.Batch)),
		named("user", decode(r.user, &j.Request.User)),
	)
	var err1, err2 error
	j.Request.Command, err1 = decodeStrings(r.command)
	j.Request.Env, err2 = decodeStrings(r.env)
	if err := cmp.Or(err, named("command", err1), named("environment", err2)); err != nil {
		return err
	}
	if j.Spec.ID != r.id || j.Asked.ID != r.id || j.Spec.Class != r.class {
		return fmt.Errorf("spec of job %s of class %q: %w", j.Spec.ID, j.Spec.Class, errForeign)
	}
	if ended != j.Status.Phase.Terminal() {
		return fmt.Errorf("phase %d, ended: %t, want them to agree", j.Status.Phase, ended)
	}
	if ended {
		return r.ending(j)
	}
	return nil
}

func (r *row) ending(j *Job) error {
	at, err := decodeTime(r.at)
	if err != nil {
		return err
	}
	for outcome, phase := range terminal {
		if outcome.String() == r.outcome && phase == j.Status.Phase {
			j.Ended = &Ending{Outcome: outcome, Detail: r.detail, At: at}
			return nil
		}
	}
	return fmt.Errorf("outcome %q of phase %d, want them to agree", r.outcome, j.Status.Phase)
}
