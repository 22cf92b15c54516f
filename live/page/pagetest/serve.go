// Package pagetest serves the live page for tests of its sources.
package pagetest

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/page"
)

// Serve serves the page of a source until the test ends, and returns its URL with the token.
func Serve(t *testing.T, source page.Source) string {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s := page.New(source, h.Listener.Addr())
	h.Config.Handler = s.Handler()
	h.Start()
	t.Cleanup(h.Close)
	go s.Watch(t.Context(), time.Second)
	return s.URL()
}
