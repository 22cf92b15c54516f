package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
)

// play runs a scenario in virtual time.
func (sc *scenario) play(t *testing.T) (m *simulation) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "oxgang-sim") //nolint:usetesting // the simulated disk needs tmpfs
	if err != nil {
		t.Skip("needs tmpfs: ", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	synctest.Test(t, func(*testing.T) { m = simulate(dir, sc) })
	return m
}

// environment returns what a variable of the environment says.
func environment(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	return n
}

// TestSimulation runs random jobs, submissions, ends and faults over the production code of this
// machine's backend, and checks its invariants after everything that happens. A thousand of them meet
// every kind of fault. RAPID_SEED decides which thousand.
func TestSimulation(t *testing.T) {
	seeds := 1000
	if testing.Short() {
		seeds = 20
	}
	first := environment(t, "OXGANG_SIM_SEED", int(draws.Seed(t)%1e12))
	n := environment(t, "OXGANG_SIM_SEEDS", seeds)
	if os.Getenv("OXGANG_SIM_SEED") != "" {
		n = environment(t, "OXGANG_SIM_SEEDS", 1)
	}
	quiet(t)
	began, met := time.Now(), meetings{}
	for seed := first; seed < first+n; seed++ {
		m := newScenario(uint64(seed)).play(t)
		if m.wrong != nil {
			report(t, m)
			return
		}
		met.add(m.met)
	}
	t.Logf("%d seeds from %d in %v\n%v", n, first, time.Since(began), met)
	if missing := met.missing(); n >= 1000 && os.Getenv("OXGANG_SIM_SEED") == "" && len(missing) > 0 {
		t.Errorf("%d seeds from %d have not met: %s", n, first, strings.Join(missing, "; "))
	}
}

// Seeds that have found a defect find it again.
func TestSimulation_of_seeds_that_failed(t *testing.T) {
	quiet(t)
	for _, seed := range []uint64{
		939103315217, // failures that a checkpoint had ended were back after a crash
	} {
		if m := newScenario(seed).play(t); m.wrong != nil {
			report(t, m)
		}
	}
}

// One seed always plays the same.
func TestSimulation_repeats(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 4
	}
	quiet(t)
	for seed := range uint64(environment(t, "OXGANG_SIM_SEEDS", seeds)) {
		first, second := newScenario(seed).play(t), newScenario(seed).play(t)
		for i := range max(len(first.history), len(second.history)) {
			if i >= min(len(first.history), len(second.history)) || first.history[i] != second.history[i] {
				t.Errorf("seed %d: %d and %d lines; line %d differs:\n%s\n%s", seed, len(first.history), len(second.history), i, at(first.history, i), at(second.history, i))
				break
			}
		}
	}
}

// A failing scenario is cut down to what it needs, and its report says how to repeat it.
func TestSimulation_is_shortened(t *testing.T) {
	quiet(t)
	sc := newScenario(3)
	sc.faults = append(sc.faults, fault{kind: breach, at: 100 * time.Second})
	m := sc.play(t)
	if m.wrong == nil {
		t.Fatal("nothing is wrong after a breach")
	}
	short := shorten(t, m)
	if len(short.sc.faults) != 1 || len(short.sc.jobs) != 1 || short.wrong == nil {
		t.Errorf("%d faults and %d jobs are left (%v), want one of each", len(short.sc.faults), len(short.sc.jobs), short.wrong)
	}
}

// quiet hides what the backend complains of.
func quiet(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = null
	t.Cleanup(func() { os.Stderr = was; null.Close() })
}

// report makes a failing scenario shorter, and says how to repeat it.
func report(t *testing.T, m *simulation) {
	t.Helper()
	short := shorten(t, m)
	lines := short.history
	if most := 120; len(lines) > most {
		lines = append([]string{fmt.Sprintf("(%d lines)", len(lines)-most)}, lines[len(lines)-most:]...)
	}
	t.Errorf("seed %d: %v\nrepeat: OXGANG_SIM_SEED=%d go test ./live/local -run TestSimulation\nshortened: %d jobs, faults %v: %v\n%s",
		m.sc.seed, m.wrong, m.sc.seed, len(short.sc.jobs), short.sc.faults, short.wrong, strings.Join(lines, "\n"))
}

// shorten removes jobs and faults as long as the same is wrong.
func shorten(t *testing.T, m *simulation) *simulation {
	t.Helper()
	kind := func(m *simulation) string {
		word, _, _ := strings.Cut(fmt.Sprint(m.wrong), " ")
		return word
	}
	for again := true; again; {
		again = false
		for i := 0; i < len(m.sc.faults)+len(m.sc.jobs); i++ {
			less := m.sc.without(i)
			if len(less.jobs) == 0 {
				continue
			}
			if try := less.play(t); try.wrong != nil && kind(try) == kind(m) {
				m, again = try, true
				i--
			}
		}
	}
	return m
}

func (sc *scenario) without(i int) *scenario {
	less := &scenario{seed: sc.seed, calm: sc.calm}
	for k, f := range sc.faults {
		if k != i {
			less.faults = append(less.faults, f)
		}
	}
	for k, j := range sc.jobs {
		if k+len(sc.faults) != i {
			less.jobs = append(less.jobs, j)
		}
	}
	return less
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "(none)"
	}
	return lines[i]
}
