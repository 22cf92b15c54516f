package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
)

// A ScheduleMode is the rule by which a training program changes its batch size by itself. Source: Shockwave §2.3,
// "user-defined dynamic adaptation".
type ScheduleMode uint8

// The modes.
const (
	Unscheduled ScheduleMode = iota // the job counts no epochs
	Static                          // one batch size in all epochs
	Accordion                       // small in critical epochs, the largest in others
	GNS                             // doubles as the gradient noise scale grows
	Given                           // the user states the regimes
)

var modeNames = [...]string{"", "static", "accordion", "gns", "given"}

func (m ScheduleMode) String() string { return modeNames[m] }

// ParseScheduleMode returns the ScheduleMode with a name; "" is Unscheduled.
func ParseScheduleMode(name string) (ScheduleMode, error) {
	if i := slices.Index(modeNames[:], name); i >= 0 {
		return ScheduleMode(i), nil
	}
	return 0, fmt.Errorf("schedule mode %q, want one of %s", name, strings.Join(modeNames[1:], ", "))
}

// A Regime is a number of successive epochs with the same total batch size, in samples. Source: Shockwave §5.1.
type Regime struct{ BatchSize, Epochs int }

// BatchAt returns the total batch size of an epoch; the first epoch is 0. The batch size of the last regime continues
// after its end. Without regimes it is 0.
func BatchAt(regimes []Regime, epoch int) int {
	batch := 0
	for _, r := range regimes {
		batch = r.BatchSize
		if epoch -= r.Epochs; epoch < 0 {
			break
		}
	}
	return batch
}

// A BatchSchedule describes how a training program changes its own batch size from epoch to epoch. The zero value means
// that the program does not count epochs.
type BatchSchedule struct {
	Mode    ScheduleMode
	Epochs  int      // epochs of training; 0: unknown
	Sizes   []int    // batch sizes in order, as stated by the user; empty: any sizes of the mode
	Regimes []Regime // regimes of mode Given, which cover all epochs
}

// Validate returns all errors in the schedule, joined.
func (b *BatchSchedule) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("schedule: "+format, args...))
	}
	switch {
	case int(b.Mode) >= len(modeNames):
		bad("mode %d, want at most %d", b.Mode, len(modeNames)-1)
	case b.Mode == Given && len(b.Regimes) == 0:
		bad("mode given without regimes, want at least 1")
	case b.Mode != Given && len(b.Regimes) > 0:
		bad("%d regimes with mode %q, want them with mode given only", len(b.Regimes), b.Mode)
	}
	if b.Epochs < 0 || b.Epochs > MaxEpochs {
		bad("%d epochs, want 0 to %d", b.Epochs, MaxEpochs)
	}
	for i, size := range b.Sizes {
		if size < 1 || i > 0 && size == b.Sizes[i-1] {
			bad("size %d: %d, want at least 1 and another than before", i+1, size)
		}
	}
	for i, r := range b.Regimes {
		if r.Epochs < 1 || r.Epochs > MaxEpochs {
			bad("regime %d: %d epochs, want 1 to %d", i+1, r.Epochs, MaxEpochs)
		}
		if r.BatchSize < 1 {
			bad("regime %d: batch size %d, want at least 1", i+1, r.BatchSize)
		}
	}
	return errors.Join(errs...)
}

// MaxEpochs is the largest number of epochs of a job, because a simulation has an event for each.
const MaxEpochs = 1_000_000

// Forms has one example of each kind of specification that the jobs of a class have. Kinds differ in Adaptivity, and in
// the number of GPUs if this is fixed. The most adaptive kind comes first; its example is the job submitted first.
type Forms []*Spec

// With returns f, with s added if s is of a new kind. It does not modify f.
func (f Forms) With(s *Spec) Forms {
	at, found := slices.BinarySearchFunc(f, s, byForm)
	if found {
		return f
	}
	return slices.Insert(slices.Clone(f), at, s)
}

func byForm(a, b *Spec) int {
	if c := cmp.Compare(b.Adaptivity, a.Adaptivity); c != 0 || a.Adaptivity.Has(GPUCount) {
		return c
	}
	return cmp.Compare(a.GPUs, b.GPUs)
}

// For returns the first specification that may run on configuration c, or nil.
func (f Forms) For(c cluster.Configuration) *Spec {
	if i := slices.IndexFunc(f, func(s *Spec) bool { return s.Allows(c) }); i >= 0 {
		return f[i]
	}
	return nil
}
