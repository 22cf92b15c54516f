package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/model/job"
)

// whole returns what contradicts that the last plan, and nothing but it, is in force: every
// job that was there is of its generation, others were never started.
func whole(st *State) error {
	var errs []error
	slots := map[int]job.ID{}
	for _, k := range st.Jobs {
		id, g := k.Job.Spec.ID, int64(k.Job.Generation)
		if g != st.Round && (g != 0 || len(k.Before) > 0) {
			errs = append(errs, fmt.Errorf("job %s is of generation %d in round %d", id, g, st.Round))
		}
		if want := 2 * min(g, 1); int64(len(k.Job.Held)) != want || k.Job.Status.Allocation.GPUs != len(k.Job.Held) {
			errs = append(errs, fmt.Errorf("job %s holds %d slots, allocated %d, want %d", id, len(k.Job.Held), k.Job.Status.Allocation.GPUs, want))
		}
		for _, slot := range k.Job.Held {
			if other, held := slots[slot]; held {
				errs = append(errs, fmt.Errorf("slot %d is held by %s and %s", slot, id, other))
			}
			slots[slot] = id
		}
	}
	return errors.Join(errs...)
}

// acknowledged is what a writer said that it has stored.
type acknowledged struct {
	accepted, ended map[job.ID]bool
	round           int64
	epochs          map[job.ID]int
}

// hear adds what a writer said.
func (p *acknowledged) hear(lines []string) error {
	for _, line := range lines {
		var what string
		var id job.ID
		var n int
		if _, err := fmt.Sscanln(line, &what, &id, &n); err != nil && n != 0 {
			return fmt.Errorf("%q: %w", line, err)
		}
		switch what {
		case "accept":
			p.accepted[id] = true
		case "end":
			p.ended[id] = true
		case "report":
			p.epochs[id] = n
		case "commit":
			if _, err := fmt.Sscan(string(id), &p.round); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept returns what of it a database does not keep: whatever was acknowledged is
// there, once, and at most one thing more, which was not.
func (p *acknowledged) kept(st *State, all []*Job) error {
	errs := []error{whole(st)}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	more := int(st.Round - p.round)
	if st.Round < p.round {
		bad("round %d, acknowledged %d", st.Round, p.round)
	}
	there := map[job.ID]bool{}
	for _, j := range all {
		there[j.Spec.ID] = true
		if j.Ended == nil && p.ended[j.Spec.ID] {
			bad("job %s has not ended, acknowledged that it had", j.Spec.ID)
		}
		more += one(!p.accepted[j.Spec.ID]) + one(j.Ended != nil && !p.ended[j.Spec.ID])
	}
	for id := range p.accepted {
		if !there[id] {
			bad("job %s is not there, acknowledged that it is", id)
		}
	}
	for _, k := range st.Jobs {
		reports := slices.Concat(k.Before, k.After)
		for i, r := range reports {
			if r.Epoch != i+1 {
				bad("job %s: report %d is of epoch %d, want each once and in order", k.Job.Spec.ID, i+1, r.Epoch)
			}
		}
		if n := len(reports); n < p.epochs[k.Job.Spec.ID] {
			bad("job %s: %d reports, acknowledged %d", k.Job.Spec.ID, n, p.epochs[k.Job.Spec.ID])
		}
		more += len(reports) - p.epochs[k.Job.Spec.ID]
	}
	if more > 1 {
		bad("%d things are there that were not acknowledged, want at most the one under way", more)
	}
	return errors.Join(errs...)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// see takes what is there for acknowledged: it was seen.
func (p *acknowledged) see(st *State, all []*Job) {
	p.round = st.Round
	for _, j := range all {
		p.accepted[j.Spec.ID] = true
		if j.Ended != nil {
			p.ended[j.Spec.ID] = true
		}
	}
	for _, k := range st.Jobs {
		p.epochs[k.Job.Spec.ID] = len(k.Before) + len(k.After)
	}
}

// atLeast returns an error if a state is older than what was acknowledged.
func atLeast(p *acknowledged, st *State) error {
	if st.Round < p.round {
		return fmt.Errorf("round %d, acknowledged %d", st.Round, p.round)
	}
	for _, k := range st.Jobs {
		if n := len(k.Before) + len(k.After); n < p.epochs[k.Job.Spec.ID] || p.ended[k.Job.Spec.ID] {
			return fmt.Errorf("job %s: %d reports, acknowledged %d and ended: %t", k.Job.Spec.ID, n, p.epochs[k.Job.Spec.ID], p.ended[k.Job.Spec.ID])
		}
	}
	return nil
}

// summary says what a state holds that write made.
func summary(st *State) string {
	text := fmt.Sprintf("round %d, %d ended", st.Round, len(st.Ended))
	for _, k := range st.Jobs {
		reports := slices.Concat(k.Before, k.After)
		for i, r := range reports {
			if r.Epoch != i+1 {
				return fmt.Sprintf("job %s: report %d is of epoch %d", k.Job.Spec.ID, i+1, r.Epoch)
			}
		}
		text += fmt.Sprintf(", %s of generation %d, %d reports", k.Job.Spec.ID, k.Job.Generation, len(reports))
	}
	return text
}

// prefix reports whether write, from nothing, makes a state on its way.
func prefix(st *State) bool {
	want, model := summary(st), &State{}
	found := summary(model) == want
	step := func() { found = found || summary(model) == want }
	for n := int64(1); n <= st.Round+1; n++ {
		model.Jobs = append(model.Jobs, Known{Job: newJob(job.ID(fmt.Sprint("j", n)), "x")})
		step()
		model.Round = n
		for _, k := range model.Jobs {
			k.Job.Generation = int(n)
		}
		step()
		for i := range model.Jobs {
			k := &model.Jobs[i]
			k.After = append(k.After, Report{Report: job.Report{Epoch: len(k.After) + 1}})
			step()
		}
		if len(model.Jobs) == most {
			model.Ended = make([]Known, min(len(model.Ended)+1, keptEnded))
			model.Jobs = model.Jobs[1:]
			step()
		}
	}
	return found
}

// TestPrefix: the check of TestCopies sees what is missing in the middle.
func TestPrefix(t *testing.T) {
	for name, breaks := range map[string]func(*State){
		"nothing":              func(*State) {},
		"a plan":               func(st *State) { st.Round-- },
		"an ending":            func(st *State) { st.Ended = st.Ended[1:] },
		"a job":                func(st *State) { st.Jobs = st.Jobs[1:] },
		"a generation":         func(st *State) { st.Jobs[1].Job.Generation-- },
		"a report":             func(st *State) { st.Jobs[1].After = st.Jobs[1].After[1:] },
		"all reports of a job": func(st *State) { st.Jobs[0].After = nil },
	} {
		st := filled(t, t.TempDir())
		breaks(st)
		if got, want := prefix(st), name == "nothing"; got != want {
			t.Errorf("%s missing: prefix %t, want %t: %s", name, got, want, summary(st))
		}
	}
}

// TestKept: the check of TestKill sees what is missing, doubled or made up.
func TestKept(t *testing.T) {
	good := func() (*acknowledged, *State, []*Job) {
		j := newJob("a", "x")
		j.Generation, j.Held = 2, []int{0, 1}
		j.Status.Allocation.GPUs = 2
		k := Known{Job: j, Before: []Report{{Report: job.Report{Epoch: 1}}, {Report: job.Report{Epoch: 2}}}}
		p := &acknowledged{accepted: map[job.ID]bool{"a": true}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{"a": 2}, round: 2}
		return p, &State{Round: 2, Jobs: []Known{k}}, []*Job{j}
	}
	for want, breaks := range map[string]func(*acknowledged, *State, *Job){
		"round 1, acknowledged 2":            func(p *acknowledged, st *State, j *Job) { st.Round = 1 },
		"generation 1 in round 2":            func(p *acknowledged, st *State, j *Job) { j.Generation = 1 },
		"holds 1 slots":                      func(p *acknowledged, st *State, j *Job) { j.Held = j.Held[:1] },
		"slot 1 is held by a and a":          func(p *acknowledged, st *State, j *Job) { j.Held = []int{1, 1} },
		"job b is not there":                 func(p *acknowledged, st *State, j *Job) { p.accepted["b"] = true },
		"has not ended":                      func(p *acknowledged, st *State, j *Job) { p.ended["a"] = true },
		"report 2 is of epoch 1":             func(p *acknowledged, st *State, j *Job) { st.Jobs[0].Before[1].Epoch = 1 },
		"2 reports, acknowledged 3":          func(p *acknowledged, st *State, j *Job) { p.epochs["a"] = 3 },
		"2 things are there that were not a": func(p *acknowledged, st *State, j *Job) { p.epochs["a"] = 0 },
	} {
		p, st, all := good()
		must(t, p.kept(st, all))
		breaks(p, st, all[0])
		wants(t, p.kept(st, all), want)
	}
}
