// Package registry is the table of policies that can be chosen by name. A new
// policy is one entry here and one row in docs/policies.md.
package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// An Entry is one policy of the table.
type Entry struct {
	Name     string
	Doc      string    // one sentence
	Settings []Setting // what can be set by name
	Placer   string    // the placer that it prefers; empty: submesh
	// New makes the policy. Settings that are not given have their defaults.
	// It returns an error that joins all complaints: settings the policy does
	// not have, and values that cannot be read.
	New func(settings map[string]string) (policy.Policy, error)
}

// Traits returns those of the policy with its defaults; of a policy that its defaults do not
// make, none.
func (e *Entry) Traits() policy.Traits {
	p, err := e.New(nil)
	if err != nil {
		return policy.Traits{}
	}
	return p.Traits()
}

// SettingNames returns the names of the entry's settings, in order.
func (e *Entry) SettingNames() []string { return namesOf(e.Settings) }

func namesOf(settings []Setting) []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.Name
	}
	return names
}

// A Setting is one option of a policy, written as text.
type Setting struct {
	Name    string
	Default string
	Doc     string // with unit
}

// Policies returns the table, in the order of docs/policies.md, and then what was registered.
func Policies() []Entry {
	whole := []Entry{
		oxgangEntry(),
		siaEntry(),
		polluxEntry(),
		shockwaveEntry(),
		queueEntry("fifo", "First in, first out; jobs run as submitted and are not preempted.", queue.FIFO),
		easyEntry(),
		multifactorEntry(),
		kueueEntry(),
		queueEntry("srtf", "Shortest remaining time first, by the believed speed; jobs run as submitted and may be preempted.", queue.SRTF),
		queueEntry("las", "Least attained GPU service first; jobs run as submitted and may be preempted.", queue.LAS),
		tiresiasEntry(),
	}
	whole = append(whole, synergyEntry(),
		bigDataEntry("drf", "Dominant resource fairness: smallest dominant share of GPUs, CPUs and memory first; each job has its full demand or waits."),
		bigDataEntry("tetris", "Tetris: least resources times remaining time first; each job has its full demand or waits."))
	whole = append(whole, gavelEntries()...)
	whole = append(whole, themisEntry(), afsEntry(), gandivaEntry())
	whole = append(whole, popEntry(whole), boaEntry(), autoscaleEntry(), lyraEntry()) // parts of a cluster rent and borrow nothing
	return append(whole, registered...)
}

// An UnknownError says that there is no policy of a name.
type UnknownError struct {
	Name  string
	Known []string
}

// Error lists the policies there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("policy %q is not known, want one of %s", e.Name, strings.Join(e.Known, ", "))
}

// Find returns the entry of a name. An unknown name is an *UnknownError.
func Find(name string) (Entry, error) {
	table := Policies()
	i := slices.IndexFunc(table, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, &UnknownError{Name: name, Known: Names()}
	}
	return table[i], nil
}

// New makes a policy by name, with the errors of Find and of the entry's New.
func New(name string, settings map[string]string) (policy.Policy, error) {
	e, err := Find(name)
	if err != nil {
		return nil, err
	}
	p, err := e.New(settings)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	return p, nil
}

// Names returns the names of all policies, in the order of the table.
func Names() []string {
	var names []string
	for _, e := range Policies() {
		names = append(names, e.Name)
	}
	return names
}

func queueEntry(name, doc string, defaults func() queue.Options) Entry {
	settings := []Setting{
		{"backfill", strconv.FormatBool(defaults().Backfill), "whether a job may pass one ahead of it that does not fit (true, false)"},
	}
	return Entry{Name: name, Doc: doc, Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := defaults()
		r := read(given, settings)
		r.bool("backfill", &o.Backfill)
		return queue.New(o), errors.Join(r.errs...)
	}}
}

// easyEntry is FIFO as sites run it.
func easyEntry() Entry {
	settings := []Setting{
		{"reservations", strconv.Itoa(queue.EASY().Reservations), "how many of the first jobs that do not fit others may not delay: with 1 it is EASY, with more conservative backfilling"},
	}
	return Entry{Name: "easy", Doc: "First in, first out with EASY backfilling: a job may pass others where the first in line does not start later for it; jobs run as submitted and are not preempted.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := queue.EASY()
		r := read(given, settings)
		r.int("reservations", &o.Reservations)
		if o.Reservations < 1 {
			r.errs = append(r.errs, fmt.Errorf("setting reservations is %d, want at least 1", o.Reservations))
		}
		return queue.New(o), errors.Join(r.errs...)
	}}
}

// A reader reads settings and collects complaints.
type reader struct {
	given map[string]string
	errs  []error
}

// read complains of every given setting that is not among those there are, in
// alphabetical order.
func read(given map[string]string, known []Setting) *reader {
	r := &reader{given: given}
	names := namesOf(known)
	var unknown []string
	for name := range given {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		r.errs = append(r.errs, fmt.Errorf("setting %q is not known, want one of %s", name, strings.Join(names, ", ")))
	}
	return r
}

// bool sets a boolean that is given.
func (r *reader) bool(name string, to *bool) {
	text, ok := r.given[name]
	if !ok {
		return
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want true or false", name, text))
		return
	}
	*to = v
}
