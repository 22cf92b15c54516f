package explain

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSceneIn_is_At: of every job the scene says what its own page says, at times of a new seed, with and without
// checkpoints, while nodes fail and jobs move; and GPUs that nobody holds are those that are free.
func TestSceneIn_is_At(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	for _, text := range [][]byte{checkpointed(t, "oxgang", clusters[""]), checkpointed(t, "las", clusters[""]), overloaded(t, "sia", "3")} {
		f := opened(t, text)
		for range 6 {
			at := time.Duration(draw.Int64N(int64(3 * time.Hour))).Round(time.Second)
			s, err := SceneIn(f, at)
			if err != nil {
				t.Fatal(err)
			}
			at = time.Duration(s.At)
			for range min(3, len(s.Jobs)) {
				sameAsPage(t, text, &s.Jobs[draw.IntN(len(s.Jobs))], at)
			}
			free := map[string]int{}
			for _, n := range s.Nodes {
				free[string(n.Type)] += n.GPUs
				for _, h := range n.Held {
					free[string(n.Type)] -= h.GPUs
				}
			}
			for _, v := range s.Types {
				if free[string(v.Type)] != v.Free {
					t.Errorf("at %v: %d %s GPUs without a job, %d are free", at, free[string(v.Type)], v.Type, v.Free)
				}
			}
		}
	}
}

// sameAsPage compares a job of a scene with its own page.
func sameAsPage(t *testing.T, text []byte, j *SceneJob, at time.Duration) {
	t.Helper()
	story, err := At(journalOf(t, text), j.ID, at)
	if err != nil {
		t.Fatal(err)
	}
	m := story.Moment
	if m.Holds != nil { // a scene has no CPUs and memory of jobs
		m.Holds.CPUs, m.Holds.Memory = 0, 0
	}
	phase := j.Phase
	if m.Phase == "profiling" || phase == "profiling" { // the page knows what came later
		phase = m.Phase
	}
	since := j.Submitted // a page counts from the end of profiles
	if m.Starts > 0 && m.Since != nil {
		since = *m.Since
	}
	if m.Ended || phase != m.Phase || j.Since != since || j.Reason != m.Reason || max(0, m.Starts-1) != j.Restarts || story.Asked != j.Asked {
		t.Errorf("%s at %v: %s since %v, %s, %d restarts in the scene; page %s since %v, %s, %d starts", j.ID, at, j.Phase, time.Duration(j.Since), j.Reason, j.Restarts, m.Phase, time.Duration(since), m.Reason, m.Starts)
	}
	if diff := cmp.Diff(m.Holds, j.Holds); diff != "" {
		t.Errorf("%s at %v: %s", j.ID, at, diff)
	}
	if why, _, _ := strings.Cut(j.Sentence, ";"); m.Phase != "profiling" && !strings.Contains(m.Sentence, why) {
		t.Errorf("%s at %v: %q in the scene, page %q", j.ID, at, j.Sentence, m.Sentence)
	}
}
