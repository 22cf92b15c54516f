package store

import (
	"fmt"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// most is how many jobs write has at a time.
const most = 5

// write accepts jobs, commits plans over all of them, stores reports and ends jobs, for
// ever, from wherever the one before stopped, and says what is acknowledged. In a plan of
// round r all jobs are of generation r; the reports of a job count epochs from 1.
func write(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	w, err := resume(s)
	for err == nil {
		err = w.cycle()
	}
	return err
}

// A writer knows what it wrote.
type writer struct {
	s      *Store
	number int64
	round  int64
	jobs   []job.ID
	epochs map[job.ID]int
}

func resume(s *Store) (*writer, error) {
	st, err := s.Load()
	if err != nil {
		return nil, err
	}
	w := &writer{s: s, round: st.Round, epochs: map[job.ID]int{}}
	for _, k := range slicesOf(st) {
		w.number = max(w.number, k.Job.Number)
	}
	for _, k := range st.Jobs {
		w.jobs = append(w.jobs, k.Job.Spec.ID)
		w.epochs[k.Job.Spec.ID] = len(k.Before) + len(k.After)
	}
	return w, nil
}

func (w *writer) cycle() error {
	id := job.ID(fmt.Sprint("j", w.number+1))
	if err := w.s.Accept(newJob(id, "x")); err != nil {
		return err
	}
	w.number++
	w.jobs = append(w.jobs, id)
	fmt.Println("accept", id)
	if err := w.commit(); err != nil {
		return err
	}
	for _, id := range w.jobs {
		if err := w.s.Report(id, at(1), &job.Report{Job: id, Epoch: w.epochs[id] + 1}); err != nil {
			return err
		}
		w.epochs[id]++
		fmt.Println("report", id, w.epochs[id])
	}
	if len(w.jobs) < most {
		return nil
	}
	id, w.jobs = w.jobs[0], w.jobs[1:]
	if err := w.s.End(id, Ending{Outcome: scheduler.Done, At: at(2)}); err != nil {
		return err
	}
	fmt.Println("end", id)
	return nil
}

func (w *writer) commit() error {
	p := planOf(w.round+1, w.jobs)
	if err := w.s.Commit(&p); err != nil {
		return err
	}
	w.round++
	fmt.Println("commit", w.round)
	return nil
}

// planOf returns a plan of some round whose generation all jobs are of.
func planOf(round int64, jobs []job.ID) Plan {
	p := Plan{Round: round, Time: epoch}
	for i, id := range jobs {
		p.Changes = append(p.Changes, started(id, int(round), 2*i, 2*i+1))
	}
	return p
}
