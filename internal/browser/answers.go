package browser

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A Question is asked of a page. The element At must show Want within five seconds, after one click on Click if Click
// is not empty. A live page shows a change at its next look only.
type Question struct{ Name, Click, At, Want string }

// onCall are the questions of a person on call that every page answers (docs/guide/on-call.md).
var onCall = []string{
	"is the cluster full?", "why does a job wait?", "for how long does it wait?", "when does it start?", "what would help?",
	"what holds the GPUs?", "which job failed, and why?", "what did it print?", "does a job leave its GPUs idle?", "does the scheduler answer?",
}

// A Server serves a page at URL, which has the token of the page, until the context of Serve ends.
type Server interface {
	URL() string
	Serve(ctx context.Context) error
}

// Answers serves a page until the test ends. It fails the test for each question that the page does not answer in
// Chromium, for each in Firefox, and for each of the ten questions of a person on call that is missing.
func Answers(t *testing.T, page Server, questions ...Question) {
	t.Helper()
	for _, name := range onCall {
		if !slices.ContainsFunc(questions, func(q Question) bool { return q.Name == name }) {
			t.Errorf("the page is not asked: %s", name)
		}
	}
	go func() { _ = page.Serve(t.Context()) }()
	url := page.URL()
	inEach(t, func(t *testing.T, v viewer) {
		for _, failure := range unanswered(v, url, questions) {
			t.Error(failure)
		}
	})
}

// inEach runs a test in Chromium and in Firefox. A missing browser skips its part.
func inEach(t *testing.T, test func(t *testing.T, v viewer)) {
	t.Helper()
	t.Run("chromium", func(t *testing.T) { test(t, openChromium(t)) })
	t.Run("firefox", func(t *testing.T) { test(t, openFirefox(t)) })
}

// A viewer is a browser with one tab.
type viewer interface {
	// open loads an address.
	open(url string) error
	// evaluate returns the value of a script, a text.
	evaluate(script string) (string, error)
	// click clicks on the first element that a CSS selector matches.
	click(selector string) error
}

// The size of the window, and the time within which all questions must be answered.
const (
	width, height = 1280, 1200
	limit         = 4 * time.Minute
)

// patience is how long a page may take to show an answer.
const patience = 5 * time.Second

const ready = `body[data-ready="true"]`

func unanswered(v viewer, url string, questions []Question) (failures []string) {
	open, _, _ := strings.Cut(url, "?")
	if err := v.open(url); err != nil {
		return []string{err.Error()}
	}
	for _, q := range questions {
		text, err := asked(v, open, &q)
		switch {
		case err != nil:
			failures = append(failures, fmt.Sprintf("%s %v", q.Name, err))
		case q.Want == "" || !strings.Contains(text, q.Want):
			failures = append(failures, fmt.Sprintf("%s %s shows %q, want %q", q.Name, q.At, text, q.Want))
		}
	}
	return failures
}

// asked returns what the page shows, at the latest after patience.
func asked(v viewer, url string, q *Question) (text string, err error) {
	for _, to := range []string{"about:blank", url} {
		if err := v.open(to); err != nil {
			return "", err
		}
	}
	if err := seen(v, ready, limit/4); err != nil {
		return "", err
	}
	if q.Click != "" {
		if err := clicked(v, q.Click); err != nil {
			return "", err
		}
		if err := seen(v, "#job-title", limit/4); err != nil {
			return "", err
		}
	}
	script := fmt.Sprintf(`(e => e?.checkVisibility() ? e.innerText : "")(document.querySelector(%s))`, strconv.Quote(q.At))
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		text, err = v.evaluate(script)
		if err != nil || strings.Contains(text, q.Want) || time.Now().After(end) {
			return text, err
		}
	}
}

const pause = 100 * time.Millisecond

// seen waits until an element is visible.
func seen(v viewer, selector string, within time.Duration) error {
	script := fmt.Sprintf(`String(document.querySelector(%s)?.checkVisibility() === true)`, strconv.Quote(selector))
	for end := time.Now().Add(within); ; time.Sleep(pause) {
		if text, err := v.evaluate(script); err != nil || text == "true" {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is not visible", selector)
		}
	}
}

// clicked clicks again if the page replaced the element meanwhile.
func clicked(v viewer, selector string) (err error) {
	if err := seen(v, selector, patience); err != nil {
		return err
	}
	for range 10 {
		if err = v.click(selector); err == nil {
			return nil
		}
	}
	return err
}

type chromiumTab struct{ ctx context.Context }

func openChromium(t *testing.T) viewer {
	t.Helper()
	c := chromiumTab{Open(t)}
	if err := chromedp.Run(c.ctx, chromedp.EmulateViewport(width, height)); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c chromiumTab) open(url string) error { return chromedp.Run(c.ctx, chromedp.Navigate(url)) }

func (c chromiumTab) evaluate(script string) (text string, err error) {
	return text, chromedp.Run(c.ctx, chromedp.Evaluate(script, &text))
}

func (c chromiumTab) click(selector string) error {
	return chromedp.Run(c.ctx, Steady(chromedp.Click(selector, chromedp.ByQuery)))
}
