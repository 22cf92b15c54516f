package local

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// A job is silent from the limit on, not before, and not much later.
func TestFindSilent_at_the_limit(t *testing.T) {
	o := DefaultOptions()
	for ago, want := range map[time.Duration]bool{o.Silence - 10*time.Second: false, o.Silence + 10*time.Second: true} {
		table := newJobTable(&o, nil)
		e := &entry{Job: store.Job{Spec: &job.Spec{ID: "a"}, Generation: 1, Held: []int{0}}, Entry: driver.Entry{ID: "a", Heard: time.Now().Add(-ago)}, runs: []*run{{generation: 1}}}
		table.Order = []*entry{e}
		if table.findSilent(); e.Silent != want {
			t.Errorf("heard %v ago, with a limit of %v: silent %v, want %v", ago, o.Silence, e.Silent, want)
		}
	}
}
