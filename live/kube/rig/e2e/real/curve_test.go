package real

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A run is what the workers of one generation of a training wrote down.
type run struct {
	generation int
	workers    int              // that trained
	steps      map[int][]uint32 // checksums of the samples of each step, ascending
	losses     map[int]float64  // after each epoch
	final      *float64         // at the end; nil: it did not get there
}

// A line is one of the file of a worker (python/tests/live_train.py).
type line struct {
	Step    *int     `json:"step"`
	Samples []uint32 `json:"samples"`
	Epoch   *int     `json:"epoch"`
	Loss    float64  `json:"loss"`
	Final   *float64 `json:"final_loss"`
}

// recorded returns the runs that are written down in a directory, by generation; those that did
// not come to a step are left out.
func recorded(dir string) ([]run, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*-*.jsonl"))
	if err != nil {
		return nil, err
	}
	of := map[int]*run{}
	for _, file := range files {
		generation, _, _ := strings.Cut(filepath.Base(file), "-")
		n, err := strconv.Atoi(generation)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if of[n] == nil {
			of[n] = &run{generation: n, steps: map[int][]uint32{}, losses: map[int]float64{}}
		}
		if err := of[n].read(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	var all []run
	for _, n := range slices.Sorted(maps.Keys(of)) {
		for _, samples := range of[n].steps {
			slices.Sort(samples)
		}
		if len(of[n].steps) > 0 {
			all = append(all, *of[n])
		}
	}
	return all, nil
}

// read adds what a worker wrote down. The last line of one that was killed, or writes yet, may
// be torn.
func (r *run) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	passes := 0
	for one := range strings.Lines(string(text)) {
		var l line
		if !strings.HasSuffix(one, "\n") {
			break
		}
		if err := json.Unmarshal([]byte(one), &l); err != nil {
			return fmt.Errorf("%q: %w", one, err)
		}
		switch {
		case l.Step != nil:
			r.steps[*l.Step] = append(r.steps[*l.Step], l.Samples...)
			passes++
		case l.Epoch != nil:
			r.losses[*l.Epoch] = l.Loss
		case l.Final != nil:
			r.final = l.Final
		}
	}
	if passes > 0 {
		r.workers++
	}
	return nil
}

// span returns the first step of a run and the one after its last: the next one to be done. All
// between are there, each with the samples that it has in the training that nobody interrupted;
// of the last one workers that were killed may have had a part only, and then it is not done.
func (r *run) span(whole *run) (first, end int, err error) {
	all := slices.Sorted(maps.Keys(r.steps))
	first, end = all[0], all[len(all)-1]+1
	for i, s := range all {
		want := whole.steps[s]
		switch {
		case s != first+i:
			return 0, 0, fmt.Errorf("step %d after %d", s, all[i-1])
		case slices.Equal(r.steps[s], want):
		case s == end-1 && len(r.steps[s]) < len(want) && part(r.steps[s], want):
			return first, s, nil
		default:
			return 0, 0, fmt.Errorf("step %d has %d samples, %v are not those of the %d that it has uninterrupted", s, len(r.steps[s]), r.steps[s], len(want))
		}
	}
	return first, end, nil
}

// part reports whether all of some samples are among others.
func part(some, all []uint32) bool {
	return !slices.ContainsFunc(some, func(s uint32) bool { _, in := slices.BinarySearch(all, s); return !in })
}

// follows returns nothing if runs did together what one did that nobody interrupted: every step,
// with its samples, and none twice but after stops without notice. again says, for each stop,
// how many steps may have been done for nothing: those since the last checkpoint.
func follows(runs []run, whole *run, again ...int) error {
	if len(runs) != len(again)+1 {
		return fmt.Errorf("%d generations trained, want %d", len(runs), len(again)+1)
	}
	next := 0
	for i := range runs {
		first, end, err := runs[i].span(whole)
		lost := next - first
		switch {
		case err != nil:
			return fmt.Errorf("generation %d: %w", runs[i].generation, err)
		case lost < 0:
			return fmt.Errorf("generation %d begins with step %d, and %d is the next: steps are skipped", runs[i].generation, first, next)
		case i == 0 && first != 0 || i > 0 && lost > again[i-1]:
			return fmt.Errorf("generation %d begins with step %d, and %d is the next: %d steps are done again", runs[i].generation, first, next, lost)
		}
		next = end
	}
	if next != len(whole.steps) {
		return fmt.Errorf("the training ended after %d steps, want %d", next, len(whole.steps))
	}
	return nil
}

// strays returns by how much the losses of runs are off those of the first of seeds, which nobody
// interrupted, at most, and an error if that is at any epoch more than a tenth of what the seeds
// are apart there: what the order of additions does is far less, and what a lost state of
// the optimiser does is more.
func strays(runs, seeds []run) (most float64, err error) {
	got := map[int]float64{}
	for i := range runs {
		maps.Copy(got, runs[i].losses)
	}
	for epoch, want := range seeds[0].losses {
		least, largest := want, want
		for i := range seeds {
			least, largest = min(least, seeds[i].losses[epoch]), max(largest, seeds[i].losses[epoch])
		}
		off := math.Abs(got[epoch] - want)
		most = max(most, off)
		if _, said := got[epoch]; !said || !(off <= (largest-least)/10) {
			err = errors.Join(err, fmt.Errorf("loss %g after epoch %d, want %g to within %g", got[epoch], epoch, want, (largest-least)/10))
		}
	}
	return most, err
}

// What is looked for is found.
func TestFollows(t *testing.T) {
	train := func(generation int, steps ...int) run {
		r := run{generation: generation, steps: map[int][]uint32{}}
		for _, s := range steps {
			r.steps[s] = []uint32{uint32(2 * s), uint32(2*s + 1)}
		}
		return r
	}
	whole := train(0, 0, 1, 2, 3, 4)
	torn, wrong := train(1, 0, 1, 2), train(1, 0, 1, 2)
	torn.steps[2], wrong.steps[1] = torn.steps[2][:1], []uint32{2, 4}
	for _, test := range []struct {
		runs  []run
		again []int
		want  string // "": nothing
	}{
		{[]run{whole}, nil, ""},
		{[]run{train(1, 0, 1), train(3, 2, 3, 4)}, []int{0}, ""},
		{[]run{train(1, 0, 1, 2), train(2, 1, 2, 3, 4)}, []int{2}, ""},
		{[]run{torn, train(2, 2, 3, 4)}, []int{0}, ""},
		{[]run{whole}, []int{0}, "1 generations trained, want 2"},
		{[]run{train(1, 0, 1, 2), train(2, 1, 2, 3, 4)}, []int{1}, "2 steps are done again"},
		{[]run{train(1, 0, 1), train(2, 3, 4)}, []int{0}, "skipped"},
		{[]run{train(1, 1, 2, 3, 4)}, nil, "skipped"},
		{[]run{train(1, 0, 2, 3, 4)}, nil, "step 2 after 0"},
		{[]run{wrong, train(2, 3, 4)}, []int{0}, "step 1 has 2 samples"},
		{[]run{train(1, 0, 1), train(2, 2, 3)}, []int{0}, "ended after 4 steps, want 5"},
	} {
		err := follows(test.runs, &whole, test.again...)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, again %v: %v, want %q", test.runs, test.again, err, test.want)
		}
	}
}
