package sweep

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
)

// Options configure how a sweep is run.
type Options struct {
	Out     string   // folder of records
	From    []string // other shards' folders, to copy from
	Program string   // version; records are separate
	Shard   Shard    // zero: all runs
	Workers int      // parallel runs
	Files   run.Files
	// Note, if not nil, is called after each run, one at a time, with its error.
	Note func(r *Run, err error)
	// Observers, if not nil, returns a run's observers.
	Observers func() []scheduler.Observer
}

// A Shard is the part of a sweep's runs that one machine does: every Of-th run, from Index on.
type Shard struct{ Index, Of int }

// ParseShard parses "2/8", of 0 to 7, or empty for all.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if err != nil || err2 != nil || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("shard %q, want i/n with i from 0 to n-1, such as 2/8", text)
	}
	return Shard{i, n}, nil
}

// A Status has the record of each run of a sweep; nil if it is not done.
type Status struct {
	Records []*Record
	Before  int // records found
	Ran     int
	Failed  map[*Run]error
	keys    []string
}

// Missing returns how many runs are not done.
func (st *Status) Missing() int {
	n := 0
	for _, r := range st.Records {
		if r == nil {
			n++
		}
	}
	return n
}

// Open returns the stored records of a sweep, and copies those in the folders From.
func (s *Sweep) Open(o *Options) (*Status, error) {
	st := &Status{Records: make([]*Record, len(s.runs)), keys: make([]string, len(s.runs)), Failed: make(map[*Run]error)}
	k := &keyer{program: o.Program, files: o.Files, known: make(map[string][]byte)}
	for i, r := range s.runs {
		key, err := k.key(r)
		if err != nil {
			return nil, err
		}
		st.keys[i] = key
		if st.Records[i], err = find(key, o); err != nil {
			return nil, err
		}
		if st.Records[i] != nil {
			st.Before++
		}
	}
	return st, nil
}

func find(key string, o *Options) (*Record, error) {
	if r, err := folder(o.Out).load(key); r != nil || err != nil {
		return r, err
	}
	for _, from := range o.From {
		if r, err := folder(from).load(key); r != nil || err != nil {
			if err == nil {
				err = folder(o.Out).save(r)
			}
			return r, err
		}
	}
	return nil, nil
}

// Play does the runs of a shard that are not done yet. Failed runs are in Status.Failed. It returns errors of files
// and of the context, which discards unfinished runs.
func (s *Sweep) Play(ctx context.Context, st *Status, o *Options) error {
	todo := s.todo(st, o.Shard)
	inputs := s.share(todo, o.Files)
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, o.Workers))
	for _, i := range todo {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			rec, failed := s.simulate(ctx, i, inputs[s.runs[i].input], o)
			if ctx.Err() != nil {
				return ctx.Err() // unfinished
			}
			var err error
			if failed == nil {
				rec.Key = st.keys[i]
				err = folder(o.Out).save(rec)
			}
			mu.Lock()
			defer mu.Unlock()
			st.note(i, s.runs[i], rec, failed)
			if o.Note != nil {
				o.Note(s.runs[i], failed)
			}
			return err
		})
	}
	return g.Wait()
}

func (st *Status) note(i int, r *Run, rec *Record, failed error) {
	if failed != nil {
		st.Failed[r] = failed
		return
	}
	st.Records[i] = rec
	st.Ran++
}

// todo orders shards by keys, which are random: in grid order, one might get all runs of the slowest policy.
func (s *Sweep) todo(st *Status, part Shard) []int {
	order := make([]int, len(s.runs))
	for i := range order {
		order[i] = i
	}
	if part.Of > 0 {
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(st.keys[a], st.keys[b]) })
	}
	var todo []int
	for place, i := range order {
		if st.Records[i] == nil && (part.Of == 0 || place%part.Of == part.Index) {
			todo = append(todo, i)
		}
	}
	slices.SortStableFunc(todo, func(a, b int) int { return s.runs[a].input - s.runs[b].input })
	return todo
}

// A shared is loaded by its first run and released by the last.
type shared struct {
	load func() (*run.Inputs, error)
	left atomic.Int64
}

func (s *Sweep) share(todo []int, files run.Files) map[int]*shared {
	all := make(map[int]*shared)
	for _, i := range todo {
		r := s.runs[i]
		if all[r.input] == nil {
			all[r.input] = &shared{load: sync.OnceValues(func() (*run.Inputs, error) { return run.Load(r.Config, files) })}
		}
		all[r.input].left.Add(1)
	}
	return all
}

func (s *Sweep) simulate(ctx context.Context, i int, in *shared, o *Options) (*Record, error) {
	r := s.runs[i]
	inputs, err := in.load()
	if in.left.Add(-1) == 0 {
		in.load = nil
	}
	if err != nil {
		return nil, err
	}
	if len(inputs.Arrivals) == 0 {
		return nil, fmt.Errorf("%s has no jobs", r.Config.Trace)
	}
	var obs []scheduler.Observer
	if o.Observers != nil {
		obs = o.Observers()
	}
	run, err := run.Simulate(ctx, r.Config, inputs, r.Policy, obs...)
	if err != nil {
		return nil, err
	}
	rec := &Record{Program: o.Program, Settings: make(map[string]string)}
	for a, axis := range s.Axes {
		rec.Settings[axis.Key] = r.Settings[a]
	}
	rec.Measures = report.Measures(&report.Run{Name: r.Policy, Result: run.Result})
	return rec, nil
}
