package page

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
)

// The measured use of GPUs is in the cells of nodes, on the pages of the node and of the job, and a job that leaves its GPUs idle needs a person. A
// GPU that is not measured is drawn full.
func TestBrowser_gpu_use(t *testing.T) {
	ctx := browser.Open(t)
	now := time.Now()
	source := NewWatched(nil)
	source.last = &status.Status{
		Title: "box", At: now, Jobs: []status.Job{{ID: "lazy", Phase: "running", GPUs: 2, Since: now.Add(-time.Hour), Nodes: []status.Share{{Node: "n", GPUs: 2}}}},
		Nodes: []status.Node{{Name: "n", GPUs: 4, Used: 2, Held: []status.Holder{{Job: "lazy", GPUs: 2}}}}, GPUs: []status.GPUs{{Total: 4, Held: 2}},
	}
	source.Measure = func(s *status.Status) {
		s.Nodes[0].Use = []status.Usage{{GPU: "0", Job: "lazy", Busy: new(0.25), Memory: status.Amount{Used: 3 << 30, Total: 16 << 30}, Celsius: 64, Watts: 402}, {GPU: "1", Job: "lazy", Busy: new(0.01)}, {GPU: "2", Busy: new(0.0)}}
		s.Jobs[0].IdleHours, s.Jobs[0].Trouble = 1.25, "holds 2 GPUs that have been idle for 42m"
	}
	s, _ := served(t, source)
	s.feed.look(t.Context())
	if source.last.Jobs[0].Trouble != "" || source.last.Nodes[0].Use != nil {
		t.Error("measuring changed the state that was read")
	}
	var text, numbers, framed, node, job, needs string
	var heights []string
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Text("#nodes", &text), chromedp.Text("#attention", &needs), chromedp.Text("#numbers", &numbers),
		chromedp.Evaluate(`[...document.querySelectorAll("#nodes .wasted")].map(g => g.title).join()`, &framed),
		chromedp.Evaluate(`[...document.querySelectorAll("#nodes .gpu")].map(g => (g.title || "-") + " " + Math.round(100 - 100 * (g.querySelector(".unused")?.offsetHeight ?? 0) / g.offsetHeight))`, &heights))
	browser.Accessible(ctx, t, "GPU use")
	does(ctx, t, chromedp.Evaluate(`location.hash = "#/job/lazy"`, nil), chromedp.WaitVisible("#job-title"), chromedp.Text("#job", &job), chromedp.Evaluate(`location.hash = "#/node/n"`, nil), chromedp.WaitVisible("#node-title"), chromedp.Text("#node", &node))
	for what, pair := range map[string][2]string{
		"cells": {strings.Join(heights, "; "), "lazy: GPU 0: 25 % utilised, 3 of 16 GiB, 64 \u00b0C, 402 W 25; lazy: GPU 1: 1 % utilised 17; - 100; - 100"},
		"nodes": {text, "9 % utilised"}, "left idle": {text, "1 left idle"}, "framed": {framed, "lazy: GPU 1"}, "held": {numbers, "GPUs held by jobs; 13 % utilised, 1 left idle"}, "needs you": {needs, "lazy: holds 2 GPUs that have been idle for 42m"}, "node": {node, "lazy, GPU 0: 25 % utilised"},
		"job": {job, "13 % utilised, memory 3 of 16 GiB, 64 \u00b0C, 402 W in all"}, "idle": {job, "1.25 GPU-hours held but not used"}, "trouble": {job, "idle for 42m"},
	} {
		if !strings.Contains(pair[0], pair[1]) {
			t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
		}
	}
}
