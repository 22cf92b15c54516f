package view

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/chromium"
	"github.com/oxgang/oxgang/live/page/pagetest"
	"github.com/oxgang/oxgang/live/slurm/client"
)

// The page of a Slurm cluster answers what somebody on call asks: see docs/guide/on-call.md. Slurm's recorded commands have no job that failed, no output
// and no measured GPU.
func TestBrowser_answers_on_call(t *testing.T) {
	if time.Now().Before(time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)) {
		t.Skip("the clock is before the recorded jobs")
	}
	ctx := chromium.Open(t)
	r := &playback{t: t}
	w := Page(&client.Client{Run: r.run}, nil, "not asked", nil)
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	chromium.Answers(ctx, t, pagetest.Serve(t, w),
		chromium.Question{Name: "is the cluster full?", At: "#sentence", Want: "24 of 36 GPUs are held and 7 jobs wait"},
		chromium.Question{Name: "why does a job wait?", At: "#waiting", Want: "its user holds as many GPUs as the QOS allows"},
		chromium.Question{Name: "for how long does it wait?", At: "#waiting", Want: " h)"},
		chromium.Question{Name: "when does it start?", At: "#waiting", Want: "not known"},
		chromium.Question{Name: "what would help?", Click: `#waiting a[data-job="12"]`, At: "#job", Want: "ask for fewer GPUs, or another QOS"},
		chromium.Question{Name: "what holds the GPUs?", At: "#nodes", Want: "4+0"},
		chromium.Question{Name: "whose job is that?", At: "#running", Want: "root"},
		chromium.Question{Name: "which node is closed, and why?", At: "#attention", Want: "gone1 starts no jobs: "},
		chromium.Question{Name: "does the scheduler answer?", At: "#facts", Want: "live \u00b7 "},
	)
}
