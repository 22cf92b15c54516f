package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Default limits of a part.
const (
	partBytes = 16 << 20
	partAge   = 24 * time.Hour
)

const unfinished = ".new"

// A Recorder writes the journal of a run in several files, its parts, so that old parts can be deleted. It is a
// scheduler.Observer and a whatif.Journal. If writing fails, scheduling continues and Trouble returns the error.
type Recorder struct {
	Start time.Time // start of the run
	// PartBytes and PartAge limit a part: the next one begins with the first checkpoint after either limit. Set
	// them before the first event.
	PartBytes int64
	PartAge   time.Duration

	first string
	sync  func(*os.File) error

	mu    sync.Mutex
	w     *journal.Writer
	err   error
	file  *os.File // the current part
	path  string
	part  int       // from 1
	begun time.Time // in the time of the run
	from  int64
}

// NewRecorder creates the journal of a run in directory dir, named after the start of the run. It deletes unfinished
// parts of an earlier run. It returns an error if the file exists or the directory does not.
func NewRecorder(dir string, h journal.Header) (*Recorder, error) {
	if err := sweep(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, h.Start.Format("20060102T150405.000Z")+extension)
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	r := &Recorder{Start: h.Start, PartBytes: partBytes, PartAge: partAge, first: path, sync: (*os.File).Sync, w: journal.NewWriter(f, h), file: f, path: path, part: 1, begun: h.Start}
	r.flush()
	return r, nil
}

func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension+unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return f, nil
}

// Path returns the path of the current part.
func (r *Recorder) Path() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.path
}

// Event implements scheduler.Observer.
func (r *Recorder) Event(now time.Time, ev scheduler.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Event(now, ev)
	r.flush()
}

// Round implements scheduler.Observer.
func (r *Recorder) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Round(s, p, acts)
	r.flush()
}

// Written implements whatif.Journal.
func (r *Recorder) Written() (all, since int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.w.Written()
}

// Due reports whether the current part is so old that a new one should begin.
func (r *Recorder) Due(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.begun) >= r.PartAge
}

// Checkpoint implements whatif.Journal. If the current part is large or old enough, it starts the next one; if this
// fails, the current part continues.
func (r *Recorder) Checkpoint(now time.Time, m *scheduler.Memory, memory []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, _ := r.w.Written()
	if all-r.from >= r.PartBytes || now.Sub(r.begun) >= r.PartAge {
		if f, err := create(r.named(r.part+1) + unfinished); err == nil {
			r.turn(f, all, now, m, memory)
			return
		}
	}
	r.w.Checkpoint(now, m, memory)
	r.flush()
}

// turn renames f only after the previous part is synced and f has its checkpoint, so that a crash leaves no gap
// between parts.
func (r *Recorder) turn(f *os.File, from int64, now time.Time, m *scheduler.Memory, memory []byte) {
	if r.flush(); r.err != nil {
		r.err = errors.Join(r.err, f.Close(), os.Remove(f.Name()))
		return
	}
	path := r.named(r.part + 1)
	old := r.file
	r.err = errors.Join(r.sync(old), r.w.Part(f, now, m, memory), os.Rename(path+unfinished, path), old.Close())
	r.file, r.path, r.part, r.begun, r.from = f, path, r.part+1, now, from
}

func (r *Recorder) flush() {
	if err := r.w.Flush(); r.err == nil {
		r.err = err
	}
}

// Trouble returns the first error that occurred while writing the journal, or nil.
func (r *Recorder) Trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close records the end of the journal and closes its file.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.w.Close(); r.err == nil {
		r.err = err
	}
	return errors.Join(r.err, r.file.Close())
}

const copyRounds = 64

type redecider struct {
	ahead *whatif.Predictor
	at    func(context.Context, time.Time) (*policy.Snapshot, counterfactual.Decider, error)
	after whatif.Decided
}

func (d *Driver) remember(p policy.Policy) policy.Policy {
	r := counterfactual.NewRecorder(p, d.o.newPolicy, copyRounds)
	d.again = &redecider{at: r.At, after: r.After}
	return r
}

type decided struct {
	then    *policy.Snapshot
	plan    *policy.Plan
	decider counterfactual.Decider
	ended   []job.ID // after the round
}

func (r *redecider) last(ctx context.Context) (*decided, error) {
	s, p := r.ahead.Last()
	if s == nil || p.Refused != "" {
		return nil, errors.New("no round")
	}
	then, d, err := r.at(ctx, s.Now)
	if err != nil {
		return nil, err
	}
	return &decided{then, p, d, r.ahead.Ended()}, nil
}

func (r *redecider) weighed(ctx context.Context, id job.ID) (policy.Terms, bool) {
	d, err := r.last(ctx)
	if err != nil {
		return policy.Terms{}, false
	}
	return counterfactual.Weigh(ctx, d.then, id, d.decider)
}

func (d *decided) find(ctx context.Context, id job.ID, ends map[job.ID]time.Duration) (*counterfactual.Change, error) {
	s, p := counterfactual.Remaining(d.then, d.plan, d.ended)
	return counterfactual.Find(ctx, s, p, id, d.decider, ends)
}
