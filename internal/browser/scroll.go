package browser

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// A Scrolling is what the browser's own trace has of a page that scrolled.
type Scrolling struct {
	Drawn   int // frames
	Dropped int // frames, also for lack of a processor
	// Longest is the processor time of the longest task of a main thread. A frame has 16.7 ms.
	Longest time.Duration
}

// An event is part of an event in Chromium's trace format.
type event struct {
	Name   string  `json:"name"`
	Phase  string  `json:"ph"`
	Thread int     `json:"tid"`
	PID    int     `json:"pid"`
	Micros float64 `json:"tdur"` // processor time
	Args   struct {
		Name string `json:"name"`
	} `json:"args"`
}

// Scroll scrolls the element at a point of the window down by a distance in pixels, 3000 a second.
func Scroll(ctx context.Context, t testing.TB, x, y, distance float64) Scrolling {
	t.Helper()
	var all []event
	done := make(chan struct{})
	listening, stop := context.WithCancel(ctx)
	defer stop()
	chromedp.ListenTarget(listening, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			for _, v := range ev.Value {
				var e event
				if json.Unmarshal(v, &e) == nil {
					all = append(all, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	})
	wanted := &tracing.TraceConfig{IncludedCategories: []string{"__metadata", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame"}}
	start := tracing.Start()
	start.TransferMode, start.TraceConfig = tracing.TransferModeReportEvents, wanted
	gesture := input.SynthesizeScrollGesture(x, y)
	gesture.YDistance, gesture.Speed, gesture.PreventFling = -distance, 3000, true
	if err := chromedp.Run(ctx, start, gesture, tracing.End()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
	return summary(all)
}

func summary(all []event) (s Scrolling) {
	type thread struct{ pid, tid int }
	main := make(map[thread]bool)
	for i := range all {
		if all[i].Name == "thread_name" && all[i].Args.Name == "CrRendererMain" {
			main[thread{all[i].PID, all[i].Thread}] = true
		}
	}
	for i := range all {
		switch e := &all[i]; {
		case e.Name == "DrawFrame":
			s.Drawn++
		case e.Name == "DroppedFrame":
			s.Dropped++
		case e.Name == "RunTask" && main[thread{e.PID, e.Thread}]:
			s.Longest = max(s.Longest, time.Duration(e.Micros*float64(time.Microsecond)))
		}
	}
	return s
}
