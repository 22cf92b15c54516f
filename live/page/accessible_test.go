package page

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A full source is a recording that has all that a page can show: answers, output, what can be cancelled, and what needs a person.
type full struct {
	*Recorded
	cancelled chan job.ID
}

func (full) Log(_ context.Context, _ job.ID, w io.Writer) error {
	_, err := fmt.Fprintln(w, strings.Repeat("loss 0.1 ", 100))
	return err
}

func (f full) Cancel(_ context.Context, id job.ID) error {
	f.cancelled <- id
	return nil
}

func (f full) Overview(ctx context.Context, at time.Duration) (*Overview, error) {
	o, err := f.Recorded.Overview(ctx, at)
	if err == nil && len(o.Jobs) > 0 {
		o.Attention, o.Jobs[0].Trouble = []string{"the disk is full"}, "it does not report"
	}
	return o, err
}

func guess(seconds int) (g whatif.Guess) {
	d := time.Duration(seconds) * time.Second
	g.Guess = calibration.Guess{Early: d, Late: 2 * d}
	return g
}

func fullServed(t *testing.T) (full, *Server) {
	t.Helper()
	r := recorded(t)
	r.WhatIf = func(_ context.Context, _ whatif.Question, at time.Duration) (*whatif.Answer, error) {
		shift := whatif.Shift{Job: "gpt-3-with-a-long-name-that-has-no-place-to-break", Before: guess(90), After: guess(70), Starts: guess(30), WouldStart: guess(10)}
		return &whatif.Answer{From: r.File.Header().Start.Add(at), Sooner: 1, StartSooner: 1, Mean: 20 * time.Second, Jobs: []whatif.Shift{shift}}, nil
	}
	f := full{r, make(chan job.ID, 1)}
	s, _ := served(t, f)
	s.Act(f)
	return f, s
}

// looks are how a page can look.
var looks = []struct {
	scheme string
	width  int64
}{{"light", 390}, {"light", 2560}, {"dark", 390}, {"dark", 1280}, {"dark", 2560}}

// In light and dark and at all widths nothing is found that keeps somebody from using the page, and nothing is wider than the window:
// as it is opened, with a job and an answer, and with the question before a job is cancelled.
func TestBrowser_accessible(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at the page in each width and theme")
	}
	ctx := browser.Open(t)
	_, s := fullServed(t)
	for _, l := range looks {
		scheme := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}})
		does(ctx, t, scheme, chromedp.EmulateViewport(l.width, 900), chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready))
		check := func(what string, more ...chromedp.Action) {
			does(ctx, t, more...)
			var wide int64
			does(ctx, t, chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide))
			name := fmt.Sprintf("%s, %d px, %s", l.scheme, l.width, what)
			if wide > l.width {
				t.Errorf("%s: %d px wide", name, wide)
			}
			browser.Accessible(ctx, t, name)
		}
		check("opened")
		check("a job", chromedp.Click("tbody a", chromedp.ByQuery), chromedp.WaitVisible("ol.life"))
		check("an answer", chromedp.Click("#job .ask", chromedp.ByQuery), chromedp.WaitVisible("#answer table"))
		check("the question", chromedp.Click("#job button.bad", chromedp.ByQuery), chromedp.WaitVisible("#confirm"))
	}
}

// With the keyboard alone: all that can be clicked is reached by Tab, one after the other; a job is opened, asked about and cancelled.
func TestBrowser_keyboard_alone(t *testing.T) {
	ctx := browser.Open(t)
	f, s := fullServed(t)
	var all, reached int
	does(ctx, t, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Evaluate(clickable+`.length`, &all))
	seen := map[string]bool{}
	for range all + 5 {
		var at string
		does(ctx, t, chromedp.KeyEvent("\t"), chromedp.Evaluate(`String(`+clickable+`.indexOf(document.activeElement))`, &at))
		if at != "-1" {
			seen[at] = true
		}
	}
	if reached = len(seen); reached != all || all < 20 {
		t.Errorf("%d of %d things are reached by Tab", reached, all)
	}
	var id, focused string
	press(ctx, t, `document.activeElement.closest("tbody") !== null && document.activeElement.tagName === "A"`, true)
	does(ctx, t, chromedp.Evaluate(`document.activeElement.textContent`, &id), chromedp.KeyEvent("\r"), chromedp.WaitVisible("ol.life"), chromedp.Poll(`document.activeElement.id === "job-title"`, nil))
	press(ctx, t, `document.activeElement.textContent === "it were cancelled?"`, false)
	does(ctx, t, chromedp.KeyEvent("\r"), chromedp.WaitVisible("#answer .sentence"), chromedp.Evaluate(`document.activeElement.textContent`, &focused))
	if want := "If " + id + " were cancelled"; focused != want {
		t.Errorf("after a question the focus is on %q, want %q", focused, want)
	}
	press(ctx, t, `document.activeElement.textContent.startsWith("Cancel this job")`, true)
	does(ctx, t, chromedp.KeyEvent("\r"), chromedp.WaitVisible("#confirm"), chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible("#confirm"))
	press(ctx, t, `document.activeElement.textContent.startsWith("Cancel this job")`, true)
	does(ctx, t, chromedp.KeyEvent("\r"), chromedp.WaitVisible("#confirm"))
	press(ctx, t, `document.activeElement.id === "confirm-yes"`, false)
	does(ctx, t, chromedp.KeyEvent("\r"), chromedp.WaitNotVisible("#confirm"))
	if got := <-f.cancelled; string(got) != id {
		t.Errorf("cancelled %s, want %s", got, id)
	}
}

// clickable are the things that can be clicked or typed into, in JavaScript.
const clickable = `[...document.querySelectorAll("a[href], button, input, [tabindex='0']")].filter(e => e.checkVisibility())`

// press presses Tab until something holds of the focus; here: it may hold at once.
func press(ctx context.Context, t *testing.T, holds string, here bool) {
	t.Helper()
	for range 300 {
		var yes bool
		if !here {
			does(ctx, t, chromedp.KeyEvent("\t"))
		}
		here = false
		if does(ctx, t, chromedp.Evaluate(holds, &yes)); yes {
			return
		}
	}
	t.Fatalf("the keyboard does not come to where %s", holds)
}

// A page that changes all the time leaves who uses the keyboard where he is.
func TestBrowser_keeps_the_focus(t *testing.T) {
	ctx := browser.Open(t)
	source := &toy{}
	jobs := func(n int) {
		source.jobs.Store(&[]status.Job{{ID: "a", Phase: "waiting", Sentence: fmt.Sprintf("sentence %d", n)}, {ID: "b", Phase: "waiting"}})
	}
	jobs(0)
	s, _ := served(t, source)
	go s.watch(t.Context(), 20*time.Millisecond)
	var focused string
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Poll(`document.querySelectorAll("#waiting a").length === 2`, nil), chromedp.Focus(`#waiting tr:nth-child(2) a`, chromedp.ByQuery))
	jobs(1)
	does(ctx, t, chromedp.Poll(`document.body.innerText.includes("sentence 1")`, nil), chromedp.Evaluate(`document.activeElement.textContent`, &focused))
	if focused != "b" {
		t.Errorf("the focus is on %q, want the second job, where it was", focused)
	}
}
