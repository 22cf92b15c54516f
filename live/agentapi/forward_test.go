package agentapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
)

// Within a generation nothing goes backwards, and what was taken in is not taken in again.
func TestServer_takes_in_forward(t *testing.T) {
	w := newFakeJobs("j1")
	s, path := serve(t, w, Options{Burst: 100})
	c := client(t, path)
	hello := golden(t, "hello") // restored: step 1000, progress 128000
	saved := golden(t, "checkpoint")
	const backwards = "want at least"
	for _, tc := range []struct {
		name, endpoint, body string
		status               int
		want                 string
		seen                 int // reports that came through
	}{
		{"begins", "hello", hello, 200, "", 0},
		{"before what was restored", "report", reported(t, 1, 999, 128000), 400, "step 999, want at least 1000, the step of an earlier report", 0},
		{"first", "report", reported(t, 1, 1000, 128000), 200, `"local":1,`, 1},
		{"again", "report", reported(t, 1, 1000, 128000), 200, `"local":1,`, 1},
		{"next", "report", reported(t, 5, 1100, 130000.5), 200, `"local":5,`, 2},
		{"replayed, another body", "report", reported(t, 2, 1101, 130001), 400, "sequence 2, want more than 5", 2},
		{"step back", "report", reported(t, 6, 1099, 130001), 400, "step 1099, want at least 1100, the step of an earlier report", 2},
		{"progress back", "report", reported(t, 6, 1100, 130000.4), 400, "progress 130000.4, want at least 130000.5, the progress of an earlier report", 2},
		{"hello again", "hello", hello, 200, "", 2},
		{"step back after it", "report", reported(t, 6, 1000, 128000), 400, backwards, 2},
		{"same once more", "report", reported(t, 6, 1100, 130000.5), 200, `"local":6,`, 3},
		{"later generation", "report", strings.Replace(reported(t, 7, 1100, 130000.5), `"generation":3`, `"generation":4`, 1), 409, "generation 4, want 3", 3},
		{"earlier generation", "report", strings.Replace(reported(t, 7, 1100, 130000.5), `"generation":3`, `"generation":2`, 1), 409, "generation 2, want 3", 3},
		{"earlier hello", "hello", strings.Replace(hello, `"generation":3`, `"generation":2`, 1), 409, "generation 2, want 3", 3},
		{"earlier checkpoint", "checkpoint", strings.Replace(saved, `"generation":3`, `"generation":2`, 1), 409, "generation 2, want 3", 3},
		{"checkpoint", "checkpoint", saved, 200, "{}", 3},
		{"checkpoint again", "checkpoint", saved, 200, "{}", 3},
		{"checkpoint back", "checkpoint", strings.Replace(saved, `"step":1000`, `"step":999`, 1), 400, "step 999, want at least 1000, the step of the previous checkpoint", 3},
		{"the last sequence number", "report", reported(t, 1<<53-1, 1200, 140000), 400, "sequence 9007199254740991, want an increase of at most 6000", 3},
	} {
		got := post(t, c, "key-j1", "/v1/"+tc.endpoint, tc.body)
		if got.status != tc.status || !strings.Contains(got.body, tc.want) || len(w.seen("j1")) != tc.seen {
			t.Errorf("%s: got %d %s and %d reports, want %d %s and %d", tc.name, got.status, got.body, len(w.seen("j1")), tc.status, tc.want, tc.seen)
		}
	}
	if err := forward(w.seen("j1")); err != nil {
		t.Error(err)
	}
	if q := s.Quarantined()["j1"]; q.Count != 7 {
		t.Errorf("%d messages in quarantine, want 7", q.Count)
	}
}

// forward returns an error if reports of one generation go backwards or come twice.
func forward(reports []Report) error {
	for i := 1; i < len(reports); i++ {
		a, b := &reports[i-1], &reports[i]
		if b.Generation < a.Generation {
			return fmt.Errorf("generation %d after %d", b.Generation, a.Generation)
		}
		if b.Generation == a.Generation && (b.Sequence <= a.Sequence || b.Step < a.Step || b.Progress < a.Progress) {
			return fmt.Errorf("%+v after %+v", b, a)
		}
	}
	return nil
}

// Whatever is sent in whichever order, what comes through goes forward; it goes back only to where
// two reports in a row say so.
func TestReports_go_forward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFakeJobs("j1")
		open := newAccount("j1", &Options{})
		var taken []Report
		var refused *Report
		for range rapid.IntRange(1, 30).Draw(t, "reports") {
			r := Report{
				Generation: rapid.IntRange(1, 3).Draw(t, "generation"), Sequence: rapid.Int64Range(1, 9).Draw(t, "sequence"),
				Step: rapid.Int64Range(0, 3).Draw(t, "step"), Progress: float64(rapid.IntRange(0, 3).Draw(t, "progress")),
			}
			_, err := open.report(t.Context(), anyGeneration{w}, &r)
			if err != nil {
				if errors.Is(err, ErrInvalid) {
					refused = &r
				}
				continue
			}
			if len(w.seen("j1")) == len(taken) {
				continue // it came again
			}
			if refused != nil && forward([]Report{*refused, r}) == nil && refused.Generation == r.Generation {
				taken = nil // two against those before
			}
			w.reports["j1"] = append(taken, r)
			taken, refused = w.reports["j1"], nil
			if err := forward(taken); err != nil {
				t.Error(err)
			}
		}
	})
}

// anyGeneration takes reports of all generations.
type anyGeneration struct{ *fakeJobs }

func (w anyGeneration) Report(_ context.Context, id job.ID, r *Report) (*Answer, error) {
	w.reports[id] = append(w.reports[id], *r)
	return new(Answer), nil
}

// The check of the two tests above sees each way to go backwards.
func TestForward_sees_bugs(t *testing.T) {
	good := Report{Generation: 2, Sequence: 2, Step: 2, Progress: 2}
	for name, change := range map[string]func(*Report){
		"taken in twice": func(*Report) {},
		"replayed":       func(r *Report) { r.Sequence = 1 },
		"step":           func(r *Report) { r.Sequence, r.Step = 3, 1 },
		"progress":       func(r *Report) { r.Sequence, r.Progress = 3, 1.5 },
		"generation":     func(r *Report) { r.Sequence, r.Generation = 3, 1 },
	} {
		bad := good
		change(&bad)
		if forward([]Report{good, bad}) == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}
