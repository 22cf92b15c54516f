package statedir

import (
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/supervisor"
)

// An Observation is what is true of a generation at one time. It is not changed afterwards.
type Observation struct {
	Generation
	State supervisor.State
	Began time.Time // when it was launched; known of All only
	Cores []int     // that its workers are bound to; nil: any. Known of All only
}

// Look observes a generation. Of one that is settled, that is, whose workers have all started
// and that was not told to stop, it asks only whether the supervisor lives: that is cheap, and
// all that can change unasked. If the supervisor is gone, Look kills what is left of the
// generation, which may take seconds.
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

// Sweep kills what is left of a generation whose supervisor is gone.
func Sweep(f *Folders, g Generation) error {
	return supervisor.Sweep(f.Job(g.Job), f.Tag(g))
}

// All observes every generation that was ever launched and has its files, whoever launched it. One
// of which nothing can be found out is taken to run: it keeps its slots, and the others go on.
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

// cores returns the cores that the workers of a launch are bound to; nil: any.
func cores(dir string) []int {
	l, err := supervisor.ReadLaunch(dir)
	if err != nil || len(l.Workers) == 0 {
		return nil
	}
	return l.Workers[0].CPUs
}
