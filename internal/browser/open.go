// Package browser opens pages in Chromium for tests, and asks the same questions of a page in Chromium and in Firefox.
package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Wanted skips the test unless OXGANG_BROWSER is set.
func Wanted(t testing.TB) {
	t.Helper()
	if os.Getenv("OXGANG_BROWSER") == "" {
		t.Skip("opens a browser: make browser")
	}
}

// Open returns a chromedp context until the test ends. It skips the test without Chromium or OXGANG_BROWSER.
func Open(t testing.TB) context.Context {
	t.Helper()
	Wanted(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium: apt-get install chromium")
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.WSURLReadTimeout(time.Minute), chromedp.NoSandbox, chromedp.ExecPath("chromium"))...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, limit)
	t.Cleanup(stop)
	return ctx
}

// Steady repeats an action if the page replaced the element between look-up and use.
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
