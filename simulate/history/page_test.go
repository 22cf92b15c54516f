package history

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// made returns an answer with two sizes of jobs, and what the best alternative does to the mean wait.
func made(was, now float64, likely statistics.Change) *Answer {
	waits := func(mean float64) []metrics.Waits {
		sizes := metrics.Sizes(64)
		return []metrics.Waits{{Size: sizes[0], Jobs: 900, Mean: mean / 2}, {Size: sizes[1], Jobs: 1, Mean: 2 * mean}, {Size: sizes[2]}}
	}
	low, high := now/2, 2*now
	a := &Answer{
		Own: "multifactor", Cluster: "a100:8x8", GPUs: 64, Trust: &metrics.Trust{Trusted: true},
		Rows: []Row{{Name: asItWas, MeanWait: was, waits: waits(was)}, {Name: "multifactor, replayed", MeanWait: was}, {Name: "oxgang", policy: "oxgang", MeanWait: now, Low: &low, High: &high, change: likely, waits: waits(now)}},
	}
	a.best, a.replayed = &a.Rows[2], a.Rows[1]
	a.Fewer = &Fewer{Policy: "oxgang", Enough: 56, AtLeast: 48, AtMost: 64, Saved: 0.125, Tried: []Size{{48, 3 * was, 0}, {56, was, 0}, {64, now, 0}}}
	a.conclude()
	return a
}

// TestHeadline: each kind of result is stated in at most 20 words, with the waits.
func TestHeadline(t *testing.T) {
	surely, perhaps := statistics.Change{Ratio: 0.5, Low: 0.4, High: 0.7}, statistics.Change{Ratio: 0.9, Low: 0.5, High: 1.2}
	alone := made(4000, 2000, surely)
	alone.best = nil
	unbounded := made(4000, 2000, surely)
	unbounded.best.High = nil
	for _, c := range []struct {
		a    *Answer
		want string
	}{
		{made(11820, 9420, surely), "Oxgang cuts the mean wait from 3h17m to 2h37m (80 % interval 1h18m to 5h14m)."},
		{made(11820, 9420, perhaps), "Oxgang: mean wait 2h37m instead of 3h17m, but that may be chance (80 % interval 1h18m to 5h14m)."},
		{unbounded, "Oxgang: mean wait 33m20s instead of 1h06m, but that may be chance (too few jobs waited for an interval)."},
		{made(600, 900, surely), "No other policy has a mean wait below 10m00s; oxgang has 15m00s."},
		{made(0, 0, surely), "No job waited, so no policy can reduce the waits."},
		{alone, "The mean wait was 1h06m; no other policy was simulated."},
	} {
		if got := c.a.headline(); got != c.want || len(strings.Fields(got)) > 20 {
			t.Errorf("%q (%d words), want %q", got, len(strings.Fields(got)), c.want)
		}
	}
}

// The line about the mean wait compares with the replay of the own policy, never with the log alone.
func TestWaits(t *testing.T) {
	surely := statistics.Change{Ratio: 0.5, Low: 0.4, High: 0.7}
	replayed := func(was, own, now float64) *Answer {
		a := made(was, now, surely)
		a.replayed.MeanWait = own
		return a
	}
	for _, c := range []struct {
		a    *Answer
		want string
	}{
		{replayed(37, 36, 36), "mean wait: 37s in the log, and 36s in the replay of your own policy. 36s under oxgang, the same as under your own policy"},
		{replayed(78, 97, 97), "mean wait: 1m18s in the log, and 1m37s in the replay of your own policy. 1m37s under oxgang, the same as under your own policy"},
		{replayed(0, 8940, 8940), "mean wait: 0s in the log, and 2h29m in the replay of your own policy. 2h29m under oxgang, the same as under your own policy"},
		{replayed(600, 600, 900), "mean wait: no other policy has less than the 10m00s of your own: oxgang has 15m00s (80 % interval 7m30s to 30m00s)"},
		{replayed(600, 600, 300), "mean wait: 5m00s under oxgang instead of 10m00s, with the same jobs and GPUs (80 % interval 2m30s to 10m00s)"},
		{replayed(0, 0, 0), "mean wait: no job waited"},
	} {
		if got := c.a.waits(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A replay without some jobs is not said to differ in figures that agree.
func TestOwn_names_missing_jobs(t *testing.T) {
	a := made(0, 0, statistics.Change{})
	a.Trust = metrics.Judge(metrics.Figures{JCT: 60}, metrics.Figures{JCT: 60}, 10, 1, 30, nil)
	if got := a.own(); !strings.Contains(got, "lacks 1 of the 11 jobs in the log") {
		t.Error(got)
	}
}

// TestTicks: an axis has round numbers in one unit, whatever its length.
func TestTicks(t *testing.T) {
	round := regexp.MustCompile(`^(0|[1-9][0-9]*0*|1[05]|30)( (s|min|h|d|GPUs))?$|^0 s$`)
	for _, wait := range []float64{7, 96, 1700, 11820, 400_000} {
		for _, f := range []string{"sizes", "queue"} {
			a := made(wait, wait/2, statistics.Change{})
			a.jobs = []Pair{{Observed: Times{Ended: 8 * wait}, Runs: make([]Times, 2)}}
			figure := a.sizes()
			if f == "queue" {
				figure = a.queue()
			}
			n := 0
			for _, text := range figure.Texts {
				if strings.ContainsAny(text.Text, "0123456789") {
					if n++; !round.MatchString(text.Text) {
						t.Errorf("%s of %g s: tick %q", f, wait, text.Text)
					}
				}
			}
			if n < 4 {
				t.Errorf("%s of %g s has %d ticks", f, wait, n)
			}
		}
	}
}

// TestBrowser_page: the page fits a phone and a screen, and axe finds nothing.
func TestBrowser_page(t *testing.T) {
	ctx := browser.Open(t)
	path := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := made(11820, 9420, statistics.Change{Ratio: 0.8, Low: 0.4, High: 0.9}).Page(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{390, 1280} {
		var wide int64
		if err := chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path), chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide)); err != nil {
			t.Fatal(err)
		}
		if wide > width {
			t.Errorf("the page is %d px wide in a window of %d", wide, width)
		}
		browser.Accessible(ctx, t, fmt.Sprintf("what if, %d px", width))
	}
}
