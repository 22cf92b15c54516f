package view

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/page"
)

// The page of a Kubernetes cluster answers what somebody on call asks: see docs/guide/on-call.md.
func TestBrowser_answers_on_call(t *testing.T) {
	browser.Wanted(t)
	f := newFake(t)
	f.has("jobs.batch", strings.Replace(objects["jobs.batch"], "2026-11-22T06:10:00Z", time.Now().Add(-time.Minute).UTC().Format(time.RFC3339), 1))
	if err := os.WriteFile(filepath.Join(f.dir, "logs"), []byte("CUDA out of memory"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	n := math.NaN()
	meter := gpuuse.NewMeter(func(context.Context) ([]gpuuse.Sample, error) {
		return []gpuuse.Sample{{Node: "gpu-a", UUID: "u", Index: 0, Pod: "research/r-0", Used: n, Total: n, Celsius: n, Watts: n, Joules: n}}, nil
	}, time.Minute)
	measured := make(chan struct{}, 1)
	go meter.Follow(t.Context(), func() { measured <- struct{}{} })
	<-measured
	p.MeasureBy(meter)
	served, err := page.Listen(p, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	browser.Answers(t, served,
		browser.Question{Name: "is the cluster full?", At: "#sentence", Want: "7 of 12 GPUs are held and 2 jobs wait"},
		browser.Question{Name: "why does a job wait?", At: "#waiting", Want: "others gain 1.04 times as much"},
		browser.Question{Name: "for how long does it wait?", At: "#waiting", Want: " h)"},
		browser.Question{Name: "when does it start?", At: "#waiting", Want: "\u2248 1 Jan 02:00"},
		browser.Question{Name: "what would help?", Click: `#waiting a[data-job="research/later"]`, At: "#job", Want: "it would get 4 GPUs if it asked for 4"},
		browser.Question{Name: "what holds the GPUs?", At: "#nodes", Want: "research/runs"},
		browser.Question{Name: "whose job is that?", At: "#running", Want: "research"},
		browser.Question{Name: "which job failed, and why?", At: "#attention", Want: "out of memory"},
		browser.Question{Name: "what did it print?", Click: "#running a", At: "#job pre", Want: "CUDA out of memory"},
		browser.Question{Name: "which node is closed, and why?", At: "#attention", Want: "gpu-c starts no jobs: cordoned"},
		browser.Question{Name: "does a job leave its GPUs idle?", At: "#nodes", Want: "1 left idle"},
		browser.Question{Name: "does the scheduler answer?", At: "#facts", Want: "live \u00b7 "},
	)
}
