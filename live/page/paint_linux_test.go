package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	settings "github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// BenchmarkBrowser says how soon Chromium shows the page, and a change of it, of a live source and of a journal of ten thousand jobs each: the
// first paint, the first paint that has jobs, and from the arrival of an event, or the move of the slider, to the changed document and to its paint;
// medians in milliseconds.
func BenchmarkBrowser(b *testing.B) {
	b.Run("live", func(b *testing.B) {
		s, _ := served(b, new(multitude))
		s.feed.look(b.Context())
		measured(b, s, func(context.Context, int) { s.feed.look(b.Context()) })
	})
	b.Run("journal", func(b *testing.B) {
		source := longRecording(b)
		last, err := source.File.Last()
		if err != nil {
			b.Fatal(err)
		}
		s, _ := served(b, source)
		measured(b, s, func(ctx context.Context, i int) {
			at := last.At.Seconds() * float64(40+i) / 100
			move := fmt.Sprintf(`document.getElementById("time").value = %g; document.getElementById("time").dispatchEvent(new Event("input"))`, at)
			if err := chromedp.Run(ctx, chromedp.Evaluate(move, nil)); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// changed is how many changes are measured.
const changed = 11

// measured opens a page and changes what it shows.
func measured(b *testing.B, s *Server, change func(context.Context, int)) {
	b.Helper()
	for b.Loop() {
		ctx := browser.Open(b)
		all := browser.Watch(ctx, b, s.URL(), "#waiting", changed, func(i int) { change(ctx, i) })
		all.Report(b)
	}
}

// longRecording returns the journal of ten thousand jobs in 40 days, of which hundreds wait, as "oxgang simulate" writes it.
func longRecording(b *testing.B) *Recorded {
	b.Helper()
	c := settings.Default()
	for key, value := range map[string]string{"policy": "fifo", "cluster": "hetero64", "generate.jobs": "10000", "generate.span": "960h"} {
		if err := c.Set(key, value, "test"); err != nil {
			b.Fatal(err)
		}
	}
	in, err := run.Load(c, run.Files{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "long.oxj"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	w := journal.NewWriter(f, run.Header(c, in, "fifo", "test"))
	watch := run.Watch{Observer: func(d *run.Decider) scheduler.Observer {
		return whatif.NewCheckpointer(whatif.Run{Scheduler: d.Scheduler, Policy: d.Policy, Placer: d.Placer, Options: d.Options, Cluster: d.Cluster, Fresh: d.Fresh}, w)
	}}
	_, err = run.SimulateWatched(b.Context(), c, in, "fifo", watch, w)
	if err := errors.Join(err, w.Close()); err != nil {
		b.Fatal(err)
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		b.Fatal(err)
	}
	j, err := journal.OpenFile(f, size)
	if err != nil {
		b.Fatal(err)
	}
	return &Recorded{Title: "long.oxj", File: j}
}
