package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A Question is asked of a page. The element At must show Want within five seconds, after one click on Click if Click
// is not empty. A live page shows a change at its next look only.
type Question struct{ Name, Click, At, Want string }

// Answers fails the test for each question that the page does not answer. url has the token of the page.
func Answers(ctx context.Context, t *testing.T, url string, questions ...Question) {
	t.Helper()
	does := func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	const ready = `body[data-ready="true"]`
	open, _, _ := strings.Cut(url, "?")
	does(chromedp.EmulateViewport(1280, 1200), chromedp.Navigate(url), chromedp.WaitVisible(ready))
	for _, q := range questions {
		var text string
		does(chromedp.Navigate("about:blank"), chromedp.Navigate(open), chromedp.WaitVisible(ready))
		if q.Click != "" {
			does(Steady(chromedp.Click(q.Click)), chromedp.WaitVisible("#job-title"))
		}
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			if does(chromedp.Text(q.At, &text)); strings.Contains(text, q.Want) || time.Now().After(end) {
				break
			}
		}
		if q.Want == "" || !strings.Contains(text, q.Want) {
			t.Errorf("%s %s shows %q, want %q", q.Name, q.At, text, q.Want)
		}
	}
}
