package view

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
)

// The page of a Slurm cluster answers what somebody on call asks: see docs/guide/on-call.md. The output of jobs is in files of
// Slurm, and the page names them.
func TestBrowser_answers_on_call(t *testing.T) {
	if time.Now().Before(time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)) {
		t.Skip("the clock is before the recorded jobs")
	}
	browser.Wanted(t)
	r := &playback{t: t}
	n := math.NaN()
	meter := gpuuse.NewMeter(func(context.Context) ([]gpuuse.Sample, error) {
		return []gpuuse.Sample{{Node: "a1", UUID: "u", Index: 0, Busy: 0, Used: n, Total: n, Celsius: n, Watts: n, Joules: n}}, nil
	}, time.Minute)
	measured := make(chan struct{}, 1)
	go meter.Follow(t.Context(), func() { measured <- struct{}{} })
	<-measured
	w := Page(&client.Client{Run: r.run}, nil, "not asked", meter)
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	served, err := page.Listen(w, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	browser.Answers(t, served,
		browser.Question{Name: "is the cluster full?", At: "#sentence", Want: "24 of 36 GPUs are held and 7 jobs wait"},
		browser.Question{Name: "why does a job wait?", At: "#waiting", Want: "its user holds as many GPUs as the QOS allows"},
		browser.Question{Name: "for how long does it wait?", At: "#waiting", Want: " h)"},
		browser.Question{Name: "when does it start?", At: "#waiting", Want: "not known"},
		browser.Question{Name: "what would help?", Click: `#waiting a[data-job="12"]`, At: "#job", Want: "ask for fewer GPUs, or another QOS"},
		browser.Question{Name: "what holds the GPUs?", At: "#nodes", Want: "4+0"},
		browser.Question{Name: "whose job is that?", At: "#running", Want: "root"},
		browser.Question{Name: "which node is closed, and why?", At: "#attention", Want: "gone1 starts no jobs: "},
		browser.Question{Name: "which job failed, and why?", At: "#ended", Want: "14 failed"},
		browser.Question{Name: "what did it print?", Click: "#running a", At: "#job", Want: "the file of sbatch --output"},
		browser.Question{Name: "does a job leave its GPUs idle?", At: "#nodes", Want: "1 left idle"},
		browser.Question{Name: "does the scheduler answer?", At: "#facts", Want: "live \u00b7 "},
	)
}
