package rounds

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

func generator(t testing.TB, s Spec) *jobGenerator {
	t.Helper()
	g, err := newGenerator(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Thesis §4.5.1: "the problem with the most number of variables (over 11-million
// variables)", of 25,000 GPUs; the others are the sizes NewSpec's comment states.
func TestNewSpec_pairs(t *testing.T) {
	for gpus, want := range map[int]int{64: 2_900, 2_048: 221_600, 10_000: 5_020_400, 25_000: 11_011_000, 100_000: 175_294_000} {
		g := generator(t, NewSpec(gpus))
		g.Next()
		if g.Pairs() != want {
			t.Errorf("%d GPUs: %d pairs, want %d", gpus, g.Pairs(), want)
		}
		sum := 0
		for _, n := range g.Capacity() {
			sum += n
		}
		if sum > gpus || sum <= gpus-8 {
			t.Errorf("%d GPUs: %d in whole nodes", gpus, sum)
		}
	}
}

// The brief of the generator: most jobs' goodput peaks between 8 and some
// hundreds of GPUs, the rest keep growing.
func TestGenerator_goodputs_peak(t *testing.T) {
	g := generator(t, NewSpec(25_000))
	peaks, growing := 0, 0
	jobs := g.Next().Arrived[:200]
	var v []float64
	for _, id := range jobs {
		v = g.Values(id, v)
		if low := slices.Min(v); low != -1 { // the row's least goodput is 1
			t.Fatalf("job %d: least value %v, want -1", id, low)
		}
		best := g.Configs()[slices.Index(v, slices.Max(v))].GPUs
		switch {
		case best >= 8 && best <= 520:
			peaks++
		case best > 3_000:
			growing++
		}
	}
	if peaks < 140 || growing < 20 || growing > 70 {
		t.Errorf("of 200 jobs %d peak between 8 and 520 GPUs and %d grow up to all of a type, want most and about 40", peaks, growing)
	}
}

func TestGenerator_first_rounds(t *testing.T) {
	s := NewSpec(2_048)
	g := generator(t, s)
	if e := g.Next(); len(e.Arrived) != 800 || len(e.Left)+len(e.Refitted)+len(e.Restarted) > 0 {
		t.Fatalf("first round: %d arrived, %d left, %d refitted, %d restarted, want 800 arrivals", len(e.Arrived), len(e.Left), len(e.Refitted), len(e.Restarted))
	}
	for _, id := range g.Jobs() {
		g.Hold(id, int(id)%len(g.Configs()))
	}
	if e := g.Next(); len(e.Arrived) != 8 || len(e.Left) != 8 || len(e.Refitted) != 79 || len(e.Restarted) != 792-79 {
		t.Errorf("second round: %d arrived, %d left, %d refitted, %d restarted, want 8, 8, 79 and all others", len(e.Arrived), len(e.Left), len(e.Refitted), len(e.Restarted))
	}
	if e := g.Next(); len(e.Restarted) < 200 || len(e.Restarted) > 264 {
		t.Errorf("third round: %d restarted, want a third of those that are not refitted", len(e.Restarted))
	}
}

// Nothing changes but what the Edits say, and equal calls give equal rounds.
func TestGenerator_edits_say_everything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := NewSpec(64)
		s.Jobs, s.Seed = rapid.IntRange(1, 30).Draw(r, "jobs"), rapid.Uint64().Draw(r, "seed")
		s.churn, s.refit = rapid.Float64Range(0, 1).Draw(r, "churn"), rapid.Float64Range(0, 1).Draw(r, "refit")
		g, twin := generator(t, s), generator(t, s)
		rows := map[job][]float64{}
		restarts := map[job]restart{}
		for range 4 {
			e := g.Next()
			if d := cmp.Diff(e, twin.Next(), unexported); d != "" {
				r.Fatalf("same calls, other rounds: %s", d)
			}
			for _, id := range e.Left {
				delete(rows, id)
			}
			for _, id := range slices.Concat(e.Arrived, e.Refitted) {
				rows[id], restarts[id] = g.Values(id, nil), g.Restart(id)
			}
			for _, id := range e.Restarted {
				restarts[id] = g.Restart(id)
			}
			if len(g.Jobs()) != s.Jobs || len(rows) != s.Jobs {
				r.Fatalf("%d jobs, %d rows, want %d", len(g.Jobs()), len(rows), s.Jobs)
			}
			for _, id := range g.Jobs() {
				if !slices.Equal(rows[id], g.Values(id, nil)) || restarts[id] != g.Restart(id) {
					r.Fatalf("job %d changed, and no edit said so", id)
				}
				held := rapid.IntRange(-1, len(g.Configs())-1).Draw(r, "held")
				g.Hold(id, held)
				twin.Hold(id, held)
			}
		}
	})
}

func TestSpec_refuses(t *testing.T) {
	for want, s := range map[string]Spec{
		"rounds: types 0, want at least 1":                    {gpus: 8, Jobs: 1},
		"rounds: jobs 0, want at least 1":                     {gpus: 8, types: 1},
		"rounds: GPUs per node 0, want at least 1":            {gpus: 8, types: 1, Jobs: 1, PerNode: []int{0}},
		"rounds: churn 2, want a share in 0 to 1":             {gpus: 8, types: 1, Jobs: 1, churn: 2},
		"rounds: 8 GPUs for 2 types: type 1 has no node of 8": {gpus: 8, types: 2, Jobs: 1},
		"rounds: refit NaN, want a share in 0 to 1":           {gpus: 8, types: 1, Jobs: 1, refit: math.NaN()},
	} {
		if _, err := newGenerator(s); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
