package statedir

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Rebuild adds to a database the jobs, starts and ends that only the folders of jobs show, and returns the jobs that
// differed. Running processes continue. Jobs without processes end if their last start has ended, or wait. After a
// crash, call it again.
func Rebuild(s *store.Store, f *Folders, n *cluster.Node) ([]job.ID, error) {
	known, err := s.Outlines()
	if err != nil {
		return nil, err
	}
	found, err := scan(f, known)
	if err != nil {
		return nil, err
	}
	if err := identify(s, f, found); err != nil {
		return nil, err
	}
	r := &rebuilder{store: s, folders: f, node: n, now: time.Now().Round(0).UTC(), live: map[job.ID]*store.Job{}}
	jobs, err := s.Jobs(false)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		r.live[j.Spec.ID] = j
	}
	var ids []job.ID
	for _, l := range missing(known, found) {
		ids = append(ids, l.id)
	}
	for _, t := range found {
		if known[t.id].Ended {
			continue
		}
		if err := r.rebuild(t); err != nil {
			return ids, fmt.Errorf("job %s: %w", t.id, err)
		}
	}
	return ids, r.commit()
}

func identify(s *store.Store, f *Folders, found []*trace) error {
	for _, t := range found {
		if t.record != nil && t.record.Identity != s.Identity() {
			if err := s.Rename(t.record.Identity); err != nil {
				return err
			}
			break
		}
	}
	f.Identity = s.Identity()
	return nil
}

type rebuilder struct {
	store   *store.Store
	folders *Folders
	node    *cluster.Node
	now     time.Time
	live    map[job.ID]*store.Job
	changes []store.Change
}

func (r *rebuilder) rebuild(t *trace) error {
	j := r.live[t.id]
	if j == nil && t.record == nil {
		if t.last == 0 {
			return nil // never accepted
		}
		return fmt.Errorf("%s has no %s to rebuild the job from: move the folder away to continue without the job", r.folders.Job(t.id), recordFile)
	}
	if j == nil {
		if j = t.record.job(); t.record.Ended != nil {
			j.Generation = t.last // resume sets it for other jobs
		}
		if err := r.store.Accept(j); err != nil {
			return err
		}
	}
	if t.record != nil && t.record.Ended != nil {
		return r.store.End(t.id, *t.record.Ended)
	}
	return r.resume(j, max(t.last, j.Generation))
}

func (r *rebuilder) resume(j *store.Job, last int) error {
	g := Generation{Job: j.Spec.ID, Number: last}
	o := &Observation{Generation: g}
	var err error
	if last > 0 {
		if o.State, err = supervisor.Look(r.folders.Generation(g)); err != nil {
			return err
		}
	}
	switch rigid := j.Spec.NoCheckpoint; {
	case o.Succeeded():
		return r.store.End(j.Spec.ID, store.Ending{Outcome: scheduler.Done, At: r.now})
	case rigid && len(o.State.Workers) > 0 && !o.StoppedOnNotice():
		return r.store.End(j.Spec.ID, store.Ending{Outcome: scheduler.Failed, Detail: o.Detail() + o.LastLines(), At: r.now})
	}
	c := store.Change{Job: j.Spec.ID, Generation: last, Status: j.Status, Batch: j.Batch, Failures: j.Failures}
	c.Status.Phase, c.Status.Allocation, c.Status.Placement = job.Waiting, cluster.Allocation{}, nil
	if last > 0 && o.State.Phase != supervisor.Absent && !o.Over() {
		err = r.hold(&c, g)
	}
	r.changes = append(r.changes, c)
	return err
}

func (r *rebuilder) hold(c *store.Change, g Generation) error {
	l, err := supervisor.ReadLaunch(r.folders.Generation(g))
	if err != nil {
		return err
	}
	total := cluster.Resources{GPUs: len(l.Workers)}
	for i := range l.Workers {
		w := &l.Workers[i]
		slot, err := strconv.Atoi(setting(w.Env, "OXGANG_SLOT"))
		if err != nil {
			return errors.New("the slots of its workers are unknown: stop them first")
		}
		cpus, _ := strconv.ParseFloat(setting(w.Env, "OXGANG_CPUS"), 64) // 0: none were requested
		total.CPUs, total.Memory = total.CPUs+cpus, total.Memory+w.Memory
		c.Held = append(c.Held, slot)
	}
	c.Status.Phase, c.Status.Since, c.Status.FirstStarted = job.Restoring, r.now, r.now
	c.Status.Allocation = cluster.Allocation{
		Configuration: cluster.Configuration{Nodes: 1, GPUs: total.GPUs, GPUType: r.node.GPUType}, CPUs: total.CPUs, Memory: total.Memory,
	}
	c.Status.Placement = cluster.Placement{{Node: r.node.ID, Resources: total}}
	return nil
}

func setting(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

func (r *rebuilder) commit() error {
	state, err := r.store.Load()
	if err != nil {
		return err
	}
	return r.store.Commit(&store.Plan{Round: state.Round + 1, Time: r.now, Changes: r.changes})
}
