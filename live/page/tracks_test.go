package page

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// With more live jobs than the limit of steps, old steps are not looked for at each new one: it would take minutes here.
func TestTracks_with_very_many_live_jobs(t *testing.T) {
	var all tracks
	const jobs = 60_000
	begin := time.Now()
	for round := range 3 {
		for n := range jobs {
			all.holds(job.ID(fmt.Sprint(n)), "ada", time.Duration(round)*time.Minute, 1+round)
		}
	}
	if took := time.Since(begin); took > 20*time.Second || all.steps > all.limit() || len(all.all) != jobs {
		t.Errorf("%v, %d steps of %d jobs; want at most %d of %d", took, all.steps, len(all.all), all.limit(), jobs)
	}
}

// The ends of a name that is used again and again take no more memory.
func TestTracks_of_a_reused_name(t *testing.T) {
	var all tracks
	for n := range 10_000 {
		at := time.Duration(n) * time.Minute
		all.holds("nightly", "ada", at, 1)
		all.holds("nightly", "ada", at+time.Second, 0)
		all.ended("nightly")
	}
	if len(all.ends) > 300 {
		t.Errorf("%d ends of one job", len(all.ends))
	}
}
