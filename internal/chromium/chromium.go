// Package chromium starts a browser for tests of pages.
package chromium

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Open returns a context of Chromium for chromedp, which lasts two minutes and no longer than the test. It skips the test unless OXGANG_BROWSER is
// set, as "make browser" does, and where there is no Chromium.
func Open(t testing.TB) context.Context {
	t.Helper()
	if os.Getenv("OXGANG_BROWSER") == "" {
		t.Skip("opens a browser: make browser")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium: apt-get install chromium")
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.WSURLReadTimeout(time.Minute), chromedp.NoSandbox, chromedp.ExecPath("chromium"))...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// Steady repeats an action on one element if the page, which refreshes itself, replaced the element between its look-up and its use.
func Steady(a chromedp.Action) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) (err error) {
		for range 10 {
			if err = a.Do(ctx); err == nil || !strings.Contains(err.Error(), "Could not find node with given id") {
				return err
			}
		}
		return err
	})
}
