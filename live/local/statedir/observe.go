package statedir

import (
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/supervisor"
)

// An Observation is the state of one start (launch) of a job at one time. It is immutable.
type Observation struct {
	Generation
	State supervisor.State
	Began time.Time // only from All
	Cores []int     // cores of its workers; nil: any; only from All
}

// Look returns the state of one start of a job. If settled is true (all workers run, and none is stopping), it only
// checks the supervisor, which is cheap. If the supervisor has died, Look kills remaining processes, which may take
// seconds.
func Look(f *Folders, g Generation, settled bool) (*Observation, error) {
	dir := f.Generation(g)
	if settled {
		if alive, err := supervisor.Lives(dir); err != nil || alive {
			return &Observation{Generation: g, State: supervisor.State{Phase: supervisor.Running}}, err
		}
	}
	state, err := supervisor.Look(dir)
	if err == nil && state.Phase == supervisor.Gone {
		err = Sweep(f, g)
	}
	return &Observation{Generation: g, State: state}, err
}

// Sweep kills the processes that generation g of a job has left behind. Call it only if the supervisor of that
// generation no longer runs.
func Sweep(f *Folders, g Generation) error {
	return supervisor.Sweep(f.Job(g.Job), f.Tag(g))
}

// All returns the state of every start of a job that has launch files. A start in an unknown state counts as running.
func All(f *Folders) ([]*Observation, error) {
	generations, err := f.Launched()
	if err != nil {
		return nil, err
	}
	var all []*Observation
	for _, g := range generations {
		dir := f.Generation(g)
		o := &Observation{Generation: g, Began: time.Now(), Cores: cores(dir)}
		if o.State, err = supervisor.Look(dir); err != nil {
			o.State = supervisor.State{Phase: supervisor.Running, Note: err.Error()} // until more is known
		}
		if info, err := os.Lstat(filepath.Join(dir, "launch.json")); err == nil {
			o.Began = info.ModTime()
		}
		all = append(all, o)
	}
	return all, nil
}

func cores(dir string) []int {
	l, err := supervisor.ReadLaunch(dir)
	if err != nil || len(l.Workers) == 0 {
		return nil
	}
	return l.Workers[0].CPUs
}
