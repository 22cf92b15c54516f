package sim

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A periodic checkpoint saves the work done by its time, not what follows until the simulator looks.
func TestAdvance_saves_at_the_checkpoint(t *testing.T) {
	begin := time.Unix(1e9, 0)
	w := &World{}
	w.o.Checkpoint = 10 * time.Second
	g := &agent{spec: &job.Spec{}, rate: 2, at: begin, savedAt: begin}
	for i, want := range []float64{5: 0, 12: 20, 19: 20, 45: 80} {
		if want == 0 && i != 5 {
			continue
		}
		at := begin.Add(time.Duration(i) * time.Second)
		if g.advance(w, at); g.saved != want || g.progress != 2*float64(i) {
			t.Errorf("after %d s: saved %v of %v, want %v of %d", i, g.saved, g.progress, want, 2*i)
		}
	}
}
