package local

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// meetings count what simulations have met, by name.
type meetings map[string]int

// crashPoints are the steps at which a crash may come: the names that hook is called with.
var crashPoints = []string{
	"submit: before acceptance", "submit: accepted", "plan: before commit", "plan: committed", "start: before the supervisor", "start: supervised",
	"stop: before the notice", "stop: noticed", "end: before the record", "end: recorded",
}

// clockSteps are by how much people set clocks.
var clockSteps = []time.Duration{-24 * time.Hour, -time.Hour, -time.Minute, time.Minute, time.Hour, 24 * time.Hour}

// What simulations meet, beside crashes at steps and clocks that are set.
const (
	metCrashNow   = "crash between steps"
	metCrash      = "crash at a write"
	metPower      = "power failure"
	metName       = "name of a file that was not synced, lost"
	metWrite      = "write that was not synced, lost"
	metTorn       = "write that was torn"
	metFullPlan   = "plan that found the disk full"
	metFullKeeper = "record of a supervisor that found the disk full"
	metFullStart  = "start of the scheduler that found the disk full"
	metHung       = "supervisor that hung through its deadline, and was killed"
	metKilled     = "supervisor that was killed by others"
	metHeld       = "supervisor that died after its workers, before it wrote how they ended"
	metOrphans    = "processes that outlived their supervisor"
	metLate       = "workers that were late, and were killed at their deadline"
	metTwice      = "message that came twice"
	metEarlier    = "report that came after a later one"
	metFirm       = "check that a job that cannot be preempted kept its slots"
)

// wanted are the names of all that a thousand simulations must meet.
func wanted() []string {
	all := []string{metCrashNow, metCrash, metPower, metName, metWrite, metTorn, metFullPlan, metFullKeeper, metFullStart, metHung, metKilled, metHeld, metOrphans, metLate, metTwice, metEarlier, metFirm}
	for _, step := range crashPoints {
		all = append(all, "crash at "+step)
	}
	for _, by := range clockSteps {
		all = append(all, metClock(by))
	}
	return all
}

func metClock(by time.Duration) string { return fmt.Sprintf("clock set by %v", by) }

func (m *simulation) meet(what string) { m.met[what]++ }

// meetLosses counts what a power failure took, which the disk counts since it was made.
func (m *simulation) meetLosses(before, now Losses) {
	m.meet(metPower)
	m.met[metName] += now.Names - before.Names
	m.met[metWrite] += now.Writes - before.Writes
	m.met[metTorn] += now.Torn - before.Torn
}

// add adds what another simulation met.
func (a meetings) add(b meetings) {
	for what, n := range b {
		a[what] += n
	}
}

func (a meetings) missing() []string {
	return slices.DeleteFunc(wanted(), func(what string) bool { return a[what] > 0 })
}

// String lists what was met, and how often.
func (a meetings) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintf(&b, "%7d %s\n", a[what], what)
	}
	return b.String()
}
