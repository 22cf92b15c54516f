package page

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
)

// While ten thousand jobs and the nodes of a large cluster scroll by, the page has no long task (50 ms, as browsers define it). The processor time of
// tasks is compared, so that other work on the machine does not count. Frames of 60 Hz need at most 16.7 ms, which is logged: it depends on the processor.
func TestBrowser_scrolls_within_frames(t *testing.T) {
	ctx := browser.Open(t)
	s, _ := served(t, new(multitude))
	s.feed.look(t.Context())
	does(ctx, t, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), chromedp.Sleep(wait))
	var paint float64
	does(ctx, t, chromedp.Evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`, &paint))
	does(ctx, t, chromedp.Evaluate(`document.getElementById("waiting").closest(".scroll").scrollIntoView({block: "center"})`, nil))
	got := browser.Scroll(ctx, t, 600, 450, 6000)
	var rows int
	if does(ctx, t, chromedp.Evaluate(`document.querySelectorAll("tbody tr").length`, &rows)); rows > 200 {
		t.Errorf("%d rows in the document after scrolling, want those in sight", rows)
	}
	t.Logf("first paint %v ms; %+v", paint, got)
	if got.Drawn < 20 || got.Longest > 50*time.Millisecond || got.Longest == 0 {
		t.Errorf("%+v, want frames, and no task above 50 ms", got)
	}
}
