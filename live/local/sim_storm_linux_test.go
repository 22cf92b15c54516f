package local

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
)

// newStorm draws a scenario in which so many kills come true, of the scheduler, the machine and
// supervisors (others come while nothing runs that they could hit), and in which supervisors hang and
// workers are late. There are always jobs.
func newStorm(seed uint64, kills int) *scenario {
	r := rng.Stream(seed, "storm")
	sc := &scenario{seed: seed, calm: time.Duration(kills) * 25 * time.Second}
	anyTime := func() time.Duration { return time.Duration(r.Int64N(int64(sc.calm))) }
	for i := range kills / 4 {
		j := drawJob(r, i)
		j.at, j.late, j.work, j.cancel = anyTime(), seconds(r, 9), 100+r.IntN(800), 0
		if r.IntN(10) == 0 {
			j.cancel = j.at + seconds(r, 300)
		}
		sc.jobs = append(sc.jobs, j)
	}
	for range 2 * kills {
		sc.faults = append(sc.faults, drawKill(r, anyTime()))
	}
	for range kills / 2 {
		sc.faults = append(sc.faults, fault{kind: hang, at: anyTime(), n: 1 + r.IntN(12), long: 30*time.Second + seconds(r, 50)})
	}
	return sc
}

// drawKill draws what kills something, at a time.
func drawKill(r *rand.Rand, at time.Duration) fault {
	kinds := []string{crashNow, crashAtStep, crashAtStep, crashAtWrite, powerNow, powerAtWrite, kill, kill}
	return fault{kind: kinds[r.IntN(len(kinds))], at: at, n: 1 + r.IntN(12)}
}

// kills returns how many kills a simulation met.
func (a meetings) kills() int {
	n := 0
	for what, times := range a {
		if what == metKilled || what == metPower || strings.HasPrefix(what, "crash") {
			n += times
		}
	}
	return n
}

// In ten storms, of 50 kills each, no job is lost and none runs twice.
func TestSimulation_storm(t *testing.T) {
	const kills = 50
	storms := 10
	if testing.Short() {
		storms = 1
	}
	quiet(t)
	seed, met, jobs := draws.Seed(t), meetings{}, 0
	for i := range uint64(storms) {
		m := newStorm(seed+i, kills).play(t)
		if m.wrong != nil {
			t.Fatalf("%v\n%s", m.wrong, strings.Join(m.history[max(0, len(m.history)-120):], "\n"))
		}
		met.add(m.met)
		jobs += len(m.accepted)
	}
	t.Logf("%d jobs, %d kills\n%v", jobs, met.kills(), met)
	if storms > 1 && (met.kills() < storms*kills || met[metHung] == 0) {
		t.Errorf("%d kills, want %d at least, and supervisors that hung:\n%v", met.kills(), storms*kills, met)
	}
}

// While nothing changes, nothing is written: a job that says nothing runs alone for ten rounds.
func TestSimulation_writes_nothing_while_nothing_changes(t *testing.T) {
	quiet(t)
	sc := &scenario{seed: 1, calm: 5 * time.Minute, jobs: []simJob{{name: "j0", gpus: 2, work: 1000}}}
	var from, to int
	sc.watch = func(m *simulation) {
		m.after(2*time.Minute, func() { from = m.disk.Writes() })
		m.after(2*time.Minute+10*simRound, func() { to = m.disk.Writes() })
	}
	if m := sc.play(t); m.wrong != nil || from == 0 || to != from {
		t.Errorf("%d writes in ten rounds (%v), want none", to-from, m.wrong)
	}
}
